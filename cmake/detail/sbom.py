# SPDX-License-Identifier: Apache-2.0
"""Writes an SPDX 2.3 document that lists a package's files and dependencies. stage_package.cmake runs it for each package of
fatlink_add_package.

Reproducible: the document's namespace is a digest of its contents, and its time is $SOURCE_DATE_EPOCH, which must be set.
One element is one line. Needs Python 3.9 and its standard library only."""
import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

CUDA_LICENSE = "LicenseRef-NVIDIA-CUDA-EULA"
# Licence and supplier of the projects that fatlink is made of.
PROJECTS = {
    "zstd": ("BSD-3-Clause", "The zstd project"),
    "lz4": ("BSD-2-Clause", "The lz4 project"),
    "nettle": ("LGPL-3.0-or-later OR GPL-2.0-or-later", "The nettle project"),
    "fmt": ("MIT", "The fmt project"),
    "nlohmann-json": ("MIT", "The nlohmann-json project"),
    "CLI11": ("BSD-3-Clause", "The CLI11 project"),
    "googletest": ("BSD-3-Clause", "Google LLC"),
    "libstdc++": ("GPL-3.0-or-later WITH GCC-exception-3.1", "Free Software Foundation"),
    "libgcc": ("GPL-3.0-or-later WITH GCC-exception-3.1", "Free Software Foundation"),
    "glibc": ("LGPL-2.1-or-later", "Free Software Foundation"),
    "CUDA Toolkit": (CUDA_LICENSE, "NVIDIA Corporation"),
    "nvJitLink": (CUDA_LICENSE, "NVIDIA Corporation"),
}
UNKNOWN = ("NOASSERTION", "NOASSERTION")
# SPDX file types by name; files that match none are classified by their first bytes.
FILE_TYPES = [
    (r"\.spdx\.json$", "SPDX"),
    (r"(^|/)share/(doc|man)/", "DOCUMENTATION"),
    (r"\.(so|so\.[0-9.]+|a|fatbin|cubin)$", "BINARY"),
    (r"\.(hpp|h|cpp|cu|cuh|cmake|py)$", "SOURCE"),
    (r"\.(json|txt|pc|ptx)$", "TEXT"),
]


def json_text(value):
    """An element as one line."""
    return json.dumps(value, ensure_ascii=False)


def without_control_characters(text):
    if re.search(r"[\x01-\x08\x0b-\x1f]", text):
        sys.exit(f"the text has a control character: {text}")
    return text


def spdx_id(text):
    return re.sub(r"[^A-Za-z0-9.-]+", "-", text)


def arguments():
    parser = argparse.ArgumentParser(description="Writes an SPDX 2.3 document of a package.", allow_abbrev=False)
    parser.add_argument("document", help="the file to write; if it is under ROOT, it leaves itself out")
    parser.add_argument("--root", required=True, help="the staged package; files, but no links, are listed as ./usr/bin/fatlink")
    parser.add_argument("--name", required=True, type=without_control_characters)
    parser.add_argument("--version", required=True, type=without_control_characters)
    parser.add_argument("--summary", required=True, type=without_control_characters)
    parser.add_argument("--license", help="SPDX expression, of the package and its files")
    parser.add_argument("--supplier", help="an organization", type=without_control_characters)
    parser.add_argument("--depends", action="append", default=[], metavar="NAME=VERSION=LICENCE=RELATIONSHIP[=SUPPLIER=PURL]",
                        help="a part or dependency; the relationship leads from the dependency to the package if it ends in _OF")
    parser.add_argument("--part", action="append", default=[], metavar="NAME=VERSION=RELATIONSHIP=FILE",
                        help="a part or dependency of fatlink's own packages, whose licence, supplier and package URL are looked up; "
                        "FILE: the header or library that the package holds; empty if it holds none")
    parser.add_argument("--bundled", action="append", default=[], metavar="SONAME", help="a library under its own licence")
    parser.add_argument("--license-of", action="append", default=[], metavar="EXPRESSION=LICENCE",
                        help="the licence of the files whose path matches the regular expression")
    given = parser.parse_args()
    given.license = given.license or "NOASSERTION"
    given.root, given.document = os.path.abspath(given.root), os.path.abspath(given.document)
    return given


# ---- files

def file_type(name, content):
    for pattern, kind in FILE_TYPES:
        if re.search(pattern, name):
            return kind
    return "BINARY" if content.startswith(b"\x7fELF") else "SOURCE" if content.startswith(b"#!") else "OTHER"


def license_rules(given):
    """(expression, licence) of files with a licence of their own; the last match wins."""
    rules = []
    for soname in given.bundled:
        project = next((name for name in PROJECTS if soname.startswith(f"lib{name}.so")), None)
        rules.append((f"/{re.escape(soname)}$", PROJECTS.get(project, UNKNOWN)[0]))
    for text in given.license_of:
        expression, equals, license = text.rpartition("=")
        if not (expression and equals and license):
            sys.exit(f"the licence {text}: expected <expression>=<licence>")
        rules.append((expression, license))
    return rules


def files_below(root, document):
    """The paths of the regular files relative to the root, in the order of their bytes."""
    names = []
    for folder, _, files in os.walk(root):
        for path in (os.path.join(folder, file) for file in files):
            if not os.path.islink(path) and path != document:
                names.append(os.path.relpath(path, root))
    return sorted(names, key=os.fsencode)


def describe_files(given):
    """The elements of the files."""
    rules, elements = license_rules(given), []
    for number, name in enumerate(files_below(given.root, given.document), 1):
        content = pathlib.Path(given.root, name).read_bytes()
        elements.append({
            "fileName": f"./{without_control_characters(name)}", "SPDXID": f"SPDXRef-File-{number}",
            "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
                          {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}],
            "fileTypes": [file_type(name, content)],
            "licenseConcluded": ([given.license] + [license for pattern, license in rules if re.search(pattern, name)])[-1],
            "copyrightText": "NOASSERTION"})
    if not elements:
        sys.exit(f"{given.root} holds no files")
    return elements


def verification_code(given, files):
    """The package's verification code (SPDX 2.3, 7.9). A document from an earlier run must not change this one."""
    digests = sorted(file["checksums"][0]["checksumValue"] for file in files)
    code = {"packageVerificationCodeValue": hashlib.sha1("".join(digests).encode()).hexdigest()}
    if given.document.startswith(given.root.rstrip("/") + "/"):
        code["packageVerificationCodeExcludedFiles"] = [f"./{os.path.relpath(given.document, given.root)}"]
    return code


# ---- packages and licences

def organization(name):
    return f"Organization: {name}" if name and name != "NOASSERTION" else "NOASSERTION"


def external_references(purl):
    if not purl:
        return {}
    return {"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]}


def licenses_of(files):
    """The licences of the files, without duplicates. The licence of a licence's text is unknown, but that says nothing about
    the package."""
    return sorted({file["licenseConcluded"] for file in files
                   if (file["licenseConcluded"], file["fileTypes"]) != ("NOASSERTION", ["DOCUMENTATION"])})


def conjunction(licenses):
    if "NOASSERTION" in licenses:
        return "NOASSERTION"
    return " AND ".join(f"({license})" if " " in license and len(licenses) > 1 else license for license in licenses)


def describe_package(given, files):
    purl = f"pkg:generic/{given.name}@{given.version}".replace("+", "%2B")
    return {"name": given.name, "SPDXID": "SPDXRef-Package", "versionInfo": given.version, "summary": given.summary,
            "supplier": organization(given.supplier), **external_references(purl), "downloadLocation": "NOASSERTION",
            "filesAnalyzed": True, "packageVerificationCode": verification_code(given, files), "licenseDeclared": given.license,
            "licenseConcluded": conjunction(licenses_of(files)), "copyrightText": "NOASSERTION"}


def describe_dependency(identifier, name, version, license, supplier, purl):
    return {"name": name, "SPDXID": identifier, **({"versionInfo": version} if version else {}),
            "supplier": organization(supplier), **external_references(purl), "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseDeclared": license, "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}


def relationship(subject, kind, target):
    return {"spdxElementId": subject, "relationshipType": kind, "relatedSpdxElement": target}


def describe_dependencies(dependencies):
    """The elements of the dependencies by their ids, and the relationships. One that is listed twice has both relationships."""
    elements, relationships = {}, []
    for name, version, license, kind, supplier, purl in dependencies:
        identifier = re.sub(r"[-.]+$", "", spdx_id(f"SPDXRef-Dependency-{name}-{version}"))
        elements.setdefault(identifier, describe_dependency(identifier, name, version, license, supplier, purl))
        ends = ("SPDXRef-Package", identifier)
        subject, target = reversed(ends) if kind.endswith("_OF") else ends
        relationships.append(relationship(subject, kind, target))
    return elements, relationships


def extracted_licenses(licenses):
    """The texts of licences that are not in SPDX's list."""
    infos = []
    for identifier in dict.fromkeys(re.findall(r"LicenseRef-[A-Za-z0-9.-]+", ";".join(licenses))):
        info = {"licenseId": identifier, "extractedText": "See the licence that is distributed with the product."}
        if identifier == CUDA_LICENSE:
            info["extractedText"] = "The End User License Agreement of the NVIDIA CUDA Toolkit, as distributed with the toolkit."
            info["name"] = "NVIDIA CUDA Toolkit End User License Agreement"
            info["seeAlsos"] = ["https://docs.nvidia.com/cuda/eula/"]
        infos.append(info)
    return infos


# ---- dependencies: stated, and of fatlink's own packages

def stated_dependency(text):
    """(name, version, licence, relationship, supplier, purl) of --depends; fatlink_add_package has checked it."""
    found = re.fullmatch(r"([^=]+)=([^=]*)=([^=]+)=([^=]+)(?:=([^=]*)=(.*))?", without_control_characters(text))
    if not found:
        sys.exit(f"the dependency {text}: expected <name>=<version>=<licence>=<relationship>[=<supplier>=<purl>]")
    return tuple(part or "" for part in found.groups())


def part_dependency(text):
    """The same of --part: from the Debian package that has the file, else of the upstream project."""
    name, version, kind, file = without_control_characters(text).split("=", 3)
    license, supplier = PROJECTS.get(name, UNKNOWN)
    package = debian_package(os.path.realpath(file)) if file and os.path.exists(file) else None
    if package:
        purl, supplier = debian_url(package)
    else:
        purl = f"pkg:generic/{url_text(name.lower().replace(' ', '-'))}" + (f"@{url_text(version)}" if version else "")
    return name, version, license, kind, supplier, purl


def url_text(text):
    """Percent-encodes a name or version as the specification of package URLs requires."""
    return text.replace("%", "%25").replace("+", "%2B").replace(":", "%3A").replace("@", "%40")


def dpkg_query(*words):
    """What dpkg-query prints; nothing on systems without it."""
    try:
        return subprocess.run(["dpkg-query", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    except OSError:
        return ""


def debian_package(file):
    """The package that has the file, or None. Packages from before the merge of /lib and /usr/lib list /lib."""
    for path in (file, re.sub("^/usr/lib/", "/lib/", file)):
        owner = re.match(r"([a-z0-9.+-]+)(:[a-z0-9]+)?: ", dpkg_query("-S", path))
        if owner:
            return owner[1]
    return None


def debian_url(package):
    """Package URL and supplier of an installed package; /etc/os-release names the distribution."""
    version, _, architecture = dpkg_query("-W", "-f=${Version}=${Architecture}", package).partition("=")
    release = pathlib.Path("/etc/os-release")
    found = re.search(r'^ID="?([a-z0-9._-]+)"?$', release.read_text(), re.MULTILINE) if release.exists() else None
    distribution = found[1] if found else "debian"
    purl = f"pkg:deb/{distribution}/{url_text(package)}@{url_text(version)}?arch={architecture}"
    return purl, distribution[0].upper() + distribution[1:]


# ---- the document

def member(name, elements):
    return f'"{name}": [\n' + ",\n".join(map(json_text, elements)) + "\n],\n"


def document(given, created):
    files = describe_files(given)
    package = describe_package(given, files)
    dependencies = [*map(stated_dependency, given.depends), *map(part_dependency, given.part)]
    elements, relationships = describe_dependencies(dependencies)
    licenses = extracted_licenses([*licenses_of(files), *(element["licenseDeclared"] for element in elements.values())])
    relationships = [relationship("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Package"),
                     *(relationship("SPDXRef-Package", "CONTAINS", file["SPDXID"]) for file in files), *relationships]
    name = json_text(f"{given.name}-{given.version}")
    rest = (f',\n"creationInfo": {json_text({"created": created, "creators": ["Tool: fatlink_write_sbom-1"]})},\n'
            + member("packages", [package, *elements.values()]) + member("files", files)
            + (member("hasExtractedLicensingInfos", licenses) if licenses else "")
            + member("relationships", relationships)[:-2] + "\n}\n")
    digest = hashlib.sha256((name + rest).encode(errors="surrogateescape")).hexdigest()
    namespace = f"https://spdx.org/spdxdocs/{spdx_id(f'{given.name}-{given.version}')}-{digest}"
    return (f'{{\n"spdxVersion": "SPDX-2.3",\n"dataLicense": "CC0-1.0",\n"SPDXID": "SPDXRef-DOCUMENT",\n"name": {name},\n'
            f'"documentNamespace": "{namespace}"{rest}')


def main():
    if sys.version_info < (3, 9):
        sys.exit(f"{sys.executable} is Python {sys.version.split()[0]}; the SPDX document needs Python 3.9 or newer")
    given = arguments()
    if not os.path.isdir(given.root):
        sys.exit(f"{given.root}: no such folder")
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not re.fullmatch("[0-9]+", epoch):
        sys.exit("set SOURCE_DATE_EPOCH to the time of the release, in seconds since 1970. The document states its time and "
                 "must be reproducible")
    text = document(given, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch))))
    pathlib.Path(given.document).write_bytes(text.encode(errors="surrogateescape"))


if __name__ == "__main__":
    main()

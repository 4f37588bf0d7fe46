# SPDX-License-Identifier: Apache-2.0
# A minimal image: Debian, Python, and the wheel of fatlink with nvJitLink.
#   scripts/package --formats WHL && docker build -t fatlink .
#   docker build -t fatlink --build-arg EXTRAS=nvrtc .       # also compiles sources at run time; numpy,nvrtc: also NumPy
#   docker run --rm fatlink run                # on the reference device; with --gpus all on a GPU
#   docker run --rm --user 1000:1000 -v links:/cache fatlink run     # as any user; keeps the links
# Wheels of the vendor in build/packages are used, too, before those of a package index.
FROM debian:bookworm-slim AS python
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*

FROM python AS installation
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv
COPY build/packages/*.whl /wheels/
ARG EXTRAS=
RUN python3 -m venv /opt/fatlink && \
    /opt/fatlink/bin/pip install --no-cache-dir --find-links /wheels "$(echo /wheels/fatlink-*.whl)${EXTRAS:+[$EXTRAS]}" && \
    /opt/fatlink/bin/pip uninstall -y -q pip setuptools

FROM python
COPY --from=installation /opt/fatlink /opt/fatlink
# The user who runs the container first makes /cache/fatlink; to others who share the volume it is not usable.
RUN mkdir -m 1777 /cache
ENV XDG_CACHE_HOME=/cache
ENV PATH=/opt/fatlink/bin:/usr/local/bin:/usr/bin:/bin
ENTRYPOINT ["fatlink"]

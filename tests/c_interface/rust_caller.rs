// SPDX-License-Identifier: Apache-2.0
// Calls libfatlink.so from Rust: prints the version, the form of an input, and an error.
use std::ffi::{c_char, c_void, CStr, CString};

#[link(name = "fatlink")]
extern "C" {
    fn fatlink_c_version() -> i32;
    fn fatlink_input_from_bytes(bytes: *const c_void, count: usize, name: *const c_char, input: *mut *mut c_void) -> *mut c_void;
    fn fatlink_input_form(input: *const c_void) -> *const c_char;
    fn fatlink_input_free(input: *mut c_void);
    fn fatlink_error_code(error: *const c_void) -> *const c_char;
    fn fatlink_error_free(error: *mut c_void);
}

fn text(pointer: *const c_char) -> String {
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// The form of `bytes`, or the code of the error.
fn form(bytes: &[u8]) -> Result<String, String> {
    let name = CString::new("rust.ptx").unwrap();
    let mut input = std::ptr::null_mut();
    unsafe {
        let error = fatlink_input_from_bytes(bytes.as_ptr().cast(), bytes.len(), name.as_ptr(), &mut input);
        if !error.is_null() {
            let code = text(fatlink_error_code(error));
            fatlink_error_free(error);
            return Err(code);
        }
        let form = text(fatlink_input_form(input));
        fatlink_input_free(input);
        Ok(form)
    }
}

fn main() {
    println!("{}", unsafe { fatlink_c_version() });
    println!("{:?}", form(b".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry f() { ret; }\n"));
    println!("{:?}", form(b""));
}

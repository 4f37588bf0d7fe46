function(fatlink_write_sbom)
endfunction()

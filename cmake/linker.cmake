# lld, where it is installed, links what developers build in a fifth of the time. What is installed is linked by the compiler's own linker.
if(DTSUBMIT_DEV OR DTSUBMIT_SANITIZE)
  find_program(DTS_LLD ld.lld)
  if(DTS_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

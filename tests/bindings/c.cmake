# C's programs are the measure of the other languages'.
if(TARGET example_tokens)
  binding_programs(c TOKENS $<TARGET_FILE:example_tokens> CALL_COST $<TARGET_FILE:example_call_cost>
                   EXAMPLES ${PROJECT_BINARY_DIR}/bin/example_{})
else()
  binding_absent(c "built without INLAY_BUILD_EXAMPLES")
endif()

# SPDX-License-Identifier: Apache-2.0
# The operators on numbers, one row each: <name>.cu and <name>.json are written from the row when CMake configures, to
# kernels/transforms/<contract>/ of the build folder, and built like the operators on structs, which are files in the folders
# beside this one.
#
#   add_operator(<name> <contract> <type> "<summary>" [ERROR_MODEL <model>] [STATE <field> <type> <default>]
#     <HOOK> "<code>" [REFERENCE "<expression>"] [ULP <ulp>] [TYPE <type>] ...)
#
# <contract>   without the size of an element, which is that of <type>: combine, not combine_4
# <type>       of the elements. operator_sources.cmake lists the types, and the hooks with the names of their parameters
# <HOOK>       each hook of the contract once, in capital letters
# <code>       a CUDA expression of the hook's parameters and the state's field
# REFERENCE    what the code computes, for verification (docs/verification.md). Default: <code>
# ULP          the tolerance of the reference
# TYPE         of the hook's other array: what LOAD, LOAD_AT and MAP read, what STORE writes. Default: <type>
# STATE        the launch's user data, one number, and its value without user data
#
# To add a type to an operator, copy its row. An operator that needs a struct, statements or several fields of a state is a
# pair of files, named in CMakeLists.txt.

# combine: two elements to one.
add_operator(add_uint8 combine uint8 "a + b of uint8, modulo 256"
  COMBINE "static_cast<std::uint8_t>(a + b)" REFERENCE "a + b")
add_operator(add_int32 combine int32 "a + b of int32, modulo 2^32"
  COMBINE "static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b))" REFERENCE "a + b")
add_operator(add_float combine float32 "a + b of float32" ERROR_MODEL additive COMBINE "a + b" ULP 0.5)
add_operator(add_double combine float64 "a + b of float64" ERROR_MODEL additive COMBINE "a + b" ULP 0.5)
# The first of equal ones.
add_operator(max_float16 combine float16 "the larger of a and b, float16" ERROR_MODEL exact
  COMBINE "__half2float(a) < __half2float(b) ? b : a" REFERENCE "a < b ? b : a" ULP 0)
add_operator(max_float combine float32 "the larger of a and b, float32" ERROR_MODEL exact
  COMBINE "a < b ? b : a" ULP 0)

# load: the elements that an algorithm uses, computed from an array.
add_operator(squares_float load float32 "x² of float32" LOAD "x * x" ULP 0.5)
add_operator(squares_double load float64 "x² of float64" LOAD "x * x" ULP 0.5)
add_operator(magnitudes_float load float32 "|x| of float32" LOAD "fabsf(x)" REFERENCE "abs(x)" ULP 0)
add_operator(widen_float16 load float32 "float16 as float32" LOAD "__half2float(x)" REFERENCE "x" ULP 0 TYPE float16)
add_operator(widen_bfloat16 load float32 "bfloat16 as float32" LOAD "__bfloat162float(x)" REFERENCE "x" ULP 0 TYPE bfloat16)
add_operator(widen_uint8 load int64 "uint8 as int64" LOAD "x" TYPE uint8)
add_operator(indices load int64 "the index of each element, as int64; the array is not read"
  LOAD_AT "static_cast<std::int64_t>(index)" REFERENCE "index" TYPE uint8)

# load_combine: the operator and what it combines.
add_operator(sum_bytes load_combine uint16 "the sum of uint8, modulo 2^16"
  LOAD "x" TYPE uint8
  COMBINE "static_cast<std::uint16_t>(a + b)" REFERENCE "a + b")
add_operator(sum_squares load_combine float32 "the sum of x² of float32" ERROR_MODEL additive
  LOAD "x * x" ULP 0.5
  COMBINE "a + b" ULP 0.5)
add_operator(count_above load_combine uint64 "how many x are above the threshold" STATE threshold float32 0
  LOAD "x > threshold ? 1 : 0" REFERENCE "x > state.threshold ? 1 : 0" TYPE float32
  COMBINE "a + b")

# keep: whether an element is kept.
add_operator(nonzero_uint8 keep uint8 "x other than 0, of uint8" KEEP "x != 0")
add_operator(finite_float16 keep float16 "x neither infinite nor NaN, of float16"
  KEEP "fabsf(__half2float(x)) <= 65504.0F" REFERENCE "abs(x) <= 65504")
add_operator(positive_float keep float32 "x > 0, of float32" KEEP "x > 0")

# keep_store: the same, and what is written for the elements that are kept.
add_operator(bytes_below_256 keep_store uint16 "x below 256, of uint16, as uint8"
  KEEP "x < 256"
  STORE "static_cast<std::uint8_t>(x)" REFERENCE "x" TYPE uint8)
add_operator(halves_of_positive keep_store float32 "positive x, of float32, as float16"
  KEEP "x > 0"
  STORE "__float2half_rn(x)" REFERENCE "x" ULP 0.5 TYPE float16)
add_operator(floats_above keep_store float64 "x above limit, of float64, as float32" STATE limit float32 0
  KEEP "x > limit" REFERENCE "x > state.limit"
  STORE "static_cast<float>(x)" REFERENCE "x" ULP 0.5 TYPE float32)

# less: whether a is before b.
foreach(type IN ITEMS int8 uint8 int16 uint16 int32 uint32 int64 uint64)
  add_operator(less_${type} less ${type} "${type} ascending" LESS "a < b")
endforeach()
# Floats as NumPy sorts them: NaN is behind all numbers; in descending order, before them.
set(less_reference "!(b <= a) && a == a")
add_operator(less_float16 less float16 "float16 ascending, NaN last"
  LESS "!(__half2float(b) <= __half2float(a)) && __half2float(a) == __half2float(a)" REFERENCE "${less_reference}")
add_operator(less_bfloat16 less bfloat16 "bfloat16 ascending, NaN last"
  LESS "!(__bfloat162float(b) <= __bfloat162float(a)) && __bfloat162float(a) == __bfloat162float(a)"
  REFERENCE "${less_reference}")
add_operator(less_float less float32 "float32 ascending, NaN last" LESS "${less_reference}")
add_operator(less_double less float64 "float64 ascending, NaN last" LESS "${less_reference}")
add_operator(greater_float less float32 "float32 descending, NaN first" LESS "!(a <= b) && b == b")

# equal: whether an element repeats the one before. same_key: the same for keys.
foreach(type IN ITEMS int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64)
  add_operator(equal_${type} equal ${type} "a = b of ${type}" EQUAL "a == b")
  add_operator(same_${type} same_key ${type} "a = b of ${type}, for keys" SAME_KEY "a == b")
endforeach()
foreach(type IN ITEMS float16 bfloat16)
  set(convert __half2float)
  if(type STREQUAL bfloat16)
    set(convert __bfloat162float)
  endif()
  add_operator(equal_${type} equal ${type} "a = b of ${type}" EQUAL "${convert}(a) == ${convert}(b)" REFERENCE "a == b")
  add_operator(same_${type} same_key ${type} "a = b of ${type}, for keys" SAME_KEY "${convert}(a) == ${convert}(b)"
    REFERENCE "a == b")
endforeach()

# key: what elements are sorted by.
foreach(type IN ITEMS int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64)
  add_operator(ascending_${type} key ${type} "${type} ascending" KEY "fatlink::ascending(x)" REFERENCE "x")
  add_operator(descending_${type} key ${type} "${type} descending" KEY "fatlink::descending(x)" REFERENCE "-x")
endforeach()

# part: to which of three parts an element goes.
add_operator(signs_int32 part int32 "negative, zero and positive int32" PART "x < 0 ? 0U : x == 0 ? 1U : 2U"
  REFERENCE "x < 0 ? 0 : x == 0 ? 1 : 2")
add_operator(signs_float part float32 "negative, zero and positive float32; NaN is with the positive ones"
  PART "x < 0.0F ? 0U : x == 0.0F ? 1U : 2U" REFERENCE "x < 0 ? 0 : x == 0 ? 1 : 2")
add_operator(residues_uint8 part uint8 "multiples of 3 of uint8, those plus 1, and those plus 2" PART "x % 3U"
  REFERENCE "x % 3")

# bin: where an element is counted.
add_operator(byte_bins bin uint8 "a bin for each value of uint8" BIN "x")
# Bin k counts the numbers from 2^(k - 1) to 2^k - 1; bin 0 counts 0.
add_operator(log2_bins bin uint32 "the number of binary digits of uint32"
  BIN "32U - static_cast<unsigned>(__clz(static_cast<int>(x)))" REFERENCE "x < 1 ? 0 : floor(log2(x)) + 1")

# map1, map2, map3: an element of those with its index of other arrays.
add_operator(clamp_uint8 map1 uint8 "x of uint8, at most the limit" STATE limit uint32 127
  MAP1 "static_cast<std::uint8_t>(x < limit ? x : limit)" REFERENCE "min(x, state.limit)")
add_operator(float_to_half map1 float16 "x as float16" MAP1 "__float2half_rn(x)" REFERENCE "x" ULP 0.5 TYPE float32)
add_operator(subtract_int16 map2 int16 "a − b of int16, modulo 2^16"
  MAP2 "static_cast<std::int16_t>(a - b)" REFERENCE "a - b")
add_operator(add_floats map2 float32 "a + b of float32" MAP2 "a + b" ULP 0.5)
add_operator(multiply_add map3 float32 "a · b + c of float32" MAP3 "fmaf(a, b, c)" REFERENCE "a * b + c" ULP 0.5)

# convert: how an array is read as float, and how it is written.
add_operator(load_int8 convert int8 "scale · x of int8" STATE scale float32 1
  LOAD_ELEMENT "scale * static_cast<float>(x)" REFERENCE "f32(state.scale * x)" ULP 0)
add_operator(load_float16 convert float16 "scale · x of float16" STATE scale float32 1
  LOAD_ELEMENT "scale * __half2float(x)" REFERENCE "f32(state.scale * x)" ULP 0)
add_operator(load_float32 convert float32 "scale · x of float" STATE scale float32 1
  LOAD_ELEMENT "scale * x" REFERENCE "f32(state.scale * x)" ULP 0)
# Ties to even. Limited in integers, which takes no branch, so that stores can be joined: a NaN becomes 0.
add_operator(store_int8 convert int8 "scale · x as int8, to nearest, limited" STATE scale float32 1
  STORE_ELEMENT "static_cast<std::int8_t>(max(-128, min(__float2int_rn(scale * x), 127)))"
    REFERENCE "state.scale * x != state.scale * x ? 0 : max(-128, min(127, rint(f32(state.scale * x))))" ULP 0)
add_operator(store_float16 convert float16 "scale · x as float16" STATE scale float32 1
  STORE_ELEMENT "__float2half_rn(scale * x)" REFERENCE "f16(f32(state.scale * x))" ULP 0)
add_operator(store_float32 convert float32 "scale · x as float" STATE scale float32 1
  STORE_ELEMENT "scale * x" REFERENCE "f32(state.scale * x)" ULP 0)

# SPDX-License-Identifier: BSD-2-Clause
# Half of a last digit is always rounded up, which printf does not do: 1.005us.
# file: src/decode/number.c
# red: unit number
s/is == tie ? digits & 1 : is > tie/is == tie ? digits \& 1 : true/

# SPDX-License-Identifier: BSD-2-Clause
# Half of the key of other names is what everybody has.
# file: src/capture/alias.c
# red: unit alias
# case: with another key, too
s/struct siphash_key key = a->key;/struct siphash_key key = { { a->key.words[0], 2 } };/

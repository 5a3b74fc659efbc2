# SPDX-License-Identifier: BSD-2-Clause
# A capture forgets which requests were given to a worker.
# file: src/capture/waits.c
# red: unit capture_requests
# case: has every request to the last bit, in order
s/byte_out__varint(out, r->flags);/byte_out__varint(out, 0);/

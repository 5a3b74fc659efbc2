# SPDX-License-Identifier: BSD-2-Clause
# The call that queued a bio returns, and the device's time is over.
# file: src/analyse/async.c
# red: unit async
# case: direct I/O
s/(!async_bios_ended(r) || ns < r->ended_ns)/!async_bios_ended(r)/

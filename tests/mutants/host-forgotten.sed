# SPDX-License-Identifier: BSD-2-Clause
# Equal drives of two machines are added up as one.
# file: src/capture/merge_about.c
# red: unit join
s/if (other->host_number == host \&\& /if (/

# SPDX-License-Identifier: BSD-2-Clause
# A Host that only begins with a name of ours is answered: a page of another site gets the metrics.
# file: src/serve/host.c
# red: unit serve_host
s/^\t\tif (!strcasecmp(name, list->names\[i\]))$/\t\tif (!strncasecmp(name, list->names[i], 6))/

/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/event.h"

enum { ASYNC_TYPES = 8 };

/* NVMe Base 2.0, "Asynchronous Event Information"; values without a word are numbers. */
static const char *const async_types[ASYNC_TYPES] = {
	[0] = "error",	   [1] = "health",	[2] = "notice",
	[3] = "immediate", [6] = "command set", [7] = "vendor",
};

static const char *const async_infos[ASYNC_TYPES][256] = {
	[0] = { "write to invalid doorbell", "invalid doorbell value", "diagnostic failure",
		"persistent internal error", "transient internal error",
		"firmware image load error" },
	[1] = { "subsystem reliability", "temperature threshold", "spare below threshold" },
	[2] = { "namespace attribute changed", "firmware activation starting",
		"telemetry log changed", "ANA state changed", "predictable latency log changed",
		"LBA status information alert", "endurance group log changed",
		[0xef] = "zone descriptor changed", [0xf0] = "discovery log changed" },
	[3] = { "normal shutdown" },
	[6] = { "reservation log page available", "sanitize completed",
		"sanitize completed with unexpected deallocation" },
};

void event__describe_async(struct words *w, uint32_t dword)
{
	uint32_t type = dword & 7, info = dword >> 8 & 0xff, page = dword >> 16 & 0xff;
	const char *name = async_infos[type][info];

	if (async_types[type]) {
		words__item(w, async_types[type]);
	} else {
		words__item(w, "type ");
		words__u64(w, type);
	}
	words__str(w, ": ");
	if (name) {
		words__str(w, name);
	} else {
		words__str(w, "info ");
		words__hex(w, info, 2);
	}
	if (page) {
		words__str(w, ", log page ");
		words__hex(w, page, 2);
	}
}

/* enum nvme_ctrl_state of the driver: the same from 5.10 to 7.2. */
static void event_state(struct words *w, uint32_t state)
{
	static const char *const states[] = { "new",	  "live",     "resetting", "connecting",
					      "deleting", "deleting", "dead" };

	if (state < sizeof(states) / sizeof(states[0])) {
		words__item(w, states[state]);
		return;
	}
	words__item(w, "state ");
	words__u64(w, state);
}

const char *event__word(uint8_t event)
{
	static const char *const events[] = {
		[EVENT_ASYNC] = "async",       [EVENT_STATE] = "state",
		[EVENT_TIMEOUT] = "timeout",   [EVENT_GONE] = "gone",
		[EVENT_APPEARED] = "appeared", [EVENT_CONNECTED] = "connected",
	};

	return event < sizeof(events) / sizeof(events[0]) && events[event] ? events[event]
									   : "event";
}

void event__describe(struct words *w, const struct io_record *r)
{
	switch (r->op) {
	case EVENT_ASYNC: event__describe_async(w, r->cdw10[0]); break;
	case EVENT_STATE: event_state(w, r->cdw10[0]); break;
	case EVENT_GONE: words__item(w, "it is gone"); break;
	case EVENT_APPEARED: words__item(w, "it appeared"); break;
	case EVENT_CONNECTED: words__item(w, "it works again"); break;
	default: words__u64(w, r->op); break;
	}
}

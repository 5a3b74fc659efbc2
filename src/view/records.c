/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/condition.h"
#include "session/host_source.h"
#include "session/io_source.h"
#include "view/records.h"

int32_t records__device(struct session *s, const struct io_record *record)
{
	const struct device *device = io_source__device(s, record);

	return device ? (int32_t)(device - io_source__devices(s)->devices) : -1;
}

const char *records__device_name(const struct session *s, int32_t device)
{
	const struct device_list *list = io_source__devices(s);

	return device >= 0 && (size_t)device < list->nr ? device__shown(&list->devices[device])
							: "?";
}

uint16_t records__host_number(const struct session *s, int32_t device)
{
	const struct device_list *list = io_source__devices(s);

	return device >= 0 && (size_t)device < list->nr ? list->devices[device].host_number : 0;
}

/* Of one machine, its devices have no number. */
const char *records__host(const struct session *s, int32_t device)
{
	const uint16_t number = records__host_number(s, device);

	if (device < 0 || (size_t)device >= io_source__devices(s)->nr)
		return NULL;
	return host_source__label(s, number ? number : 1);
}

int records__parse_condition(const char *option, const char *text, struct condition **condition)
{
	static const struct column
		*asked[COMMAND_COLUMNS]; /* never changes; conditions keep a pointer to it */

	for (size_t i = 0; i < COMMAND_COLUMNS; i++)
		asked[i] = &command_columns[i];
	return condition__parse(option, text, asked, COMMAND_COLUMNS, condition);
}

int record_filter__parse(struct record_filter *filter)
{
	return records__parse_condition("--if", filter->only_if, &filter->only);
}

bool record_filter__admits(struct record_filter *filter, struct session *session,
			   const struct io_record *record)
{
	return io_source__is_met(session, filter->only, record, &filter->row);
}

void record_filter__free(struct record_filter *filter)
{
	condition__free(filter->only);
	filter->only = NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/zip.h"

#include <stdlib.h>

#ifdef HAVE_ZSTD
#include <zstd.h>

struct capture_zip {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
	int level;
};

bool capture_zip__is_built_in(void)
{
	return true;
}

struct capture_zip *capture_zip__new(int level)
{
	struct capture_zip *zip = calloc(1, sizeof(*zip));

	if (!zip)
		return NULL;
	zip->level = level;
	zip->pack = level ? ZSTD_createCCtx() : NULL;
	zip->unpack = level ? NULL : ZSTD_createDCtx();
	if (zip->pack || zip->unpack)
		return zip;
	free(zip);
	return NULL;
}

void capture_zip__free(struct capture_zip *zip)
{
	if (!zip)
		return;
	ZSTD_freeCCtx(zip->pack);
	ZSTD_freeDCtx(zip->unpack);
	free(zip);
}

/*
 * The probability that two bytes are equal, relative to that of noise, 1 in 256. Below 1.06 times
 * that, there is less than 0.05 bits per byte to gain.
 */
static bool zip_is_noise(const uint8_t *bytes, size_t nr)
{
	uint32_t counts[4][256] = { 0 };
	uint64_t pairs = 0;

	for (size_t i = 0; i < nr; i++)
		counts[i & 3][bytes[i]]++;
	for (int i = 0; i < 256; i++) {
		uint64_t nr_same =
			(uint64_t)counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i];

		pairs += nr_same * (nr_same - 1);
	}
	return pairs * 256 * 100 < (uint64_t)nr * nr * 106;
}

size_t capture_zip__pack(struct capture_zip *zip, uint8_t *to, const uint8_t *from, size_t nr)
{
	size_t done;

	if (nr < 32 || zip_is_noise(from, nr))
		return 0;
	done = ZSTD_compressCCtx(zip->pack, to, nr, from, nr, zip->level);
	return ZSTD_isError(done) ? 0 : done;
}

bool capture_zip__unpack(struct capture_zip *zip, uint8_t *to, size_t nr, const uint8_t *from,
			 size_t from_nr)
{
	return ZSTD_decompressDCtx(zip->unpack, to, nr, from, from_nr) == nr;
}

#else

bool capture_zip__is_built_in(void)
{
	return false;
}

struct capture_zip *capture_zip__new(int level)
{
	(void)level;
	return NULL;
}

void capture_zip__free(struct capture_zip *zip)
{
	(void)zip;
}

size_t capture_zip__pack(struct capture_zip *zip, uint8_t *to, const uint8_t *from, size_t nr)
{
	(void)zip, (void)to, (void)from, (void)nr;
	return 0;
}

bool capture_zip__unpack(struct capture_zip *zip, uint8_t *to, size_t nr, const uint8_t *from,
			 size_t from_nr)
{
	(void)zip, (void)to, (void)nr, (void)from, (void)from_nr;
	return false;
}

#endif

// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a program: counts its allocations from its start on, static objects included, and
// lets some of them fail.
//
//   ALLOCATION_FAILS   the number of the allocation that fails, from 1 on; none: only count
//   ALLOCATION_MODE    once: that one alone; ever: all from there on
//   ALLOCATION_COUNT   a file that gets the number of allocations when the program ends
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static int counting;
static int ever;
static long fails;
static long allocations;

static int refused(void) {
  if (!counting) return 0;
  const long number = __atomic_add_fetch(&allocations, 1, __ATOMIC_SEQ_CST);
  if (fails == 0 || !(number == fails || (ever && number > fails))) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return refused() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return refused() ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return refused() ? NULL : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) {
  return refused() ? NULL : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** place, size_t alignment, size_t size) {
  void* const found = memalign(alignment, size);
  if (!found) return ENOMEM;
  *place = found;
  return 0;
}

// Before the constructors of the program itself, after those of the system's libraries.
__attribute__((constructor)) static void begin(void) {
  const char* at = getenv("ALLOCATION_FAILS");
  const char* mode = getenv("ALLOCATION_MODE");
  fails = at ? atol(at) : 0;
  ever = mode && strcmp(mode, "ever") == 0;
  counting = 1;
}

__attribute__((destructor)) static void report(void) {
  counting = 0;
  const char* path = getenv("ALLOCATION_COUNT");
  FILE* file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", allocations);
  fclose(file);
}

// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a program that writes files: counts its calls of open (for writing), write, fsync,
// ftruncate, rename and unlink, and at one of them ends the process, cuts a write in half and ends
// it, or lets the call fail.
//
//   SHIM_AT      the number of the call, from 1 on; none: only count
//   SHIM_MODE    kill, torn, or the number of an error (28: the disk is full)
//   SHIM_COUNT   a file that gets the number of calls when the program ends
//   SHIM_STOP    once there is a file of this name, the next fsync stops the process (SIGSTOP), once
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long calls;

static void die(void) { kill(getpid(), SIGKILL); }

/* 0: go on; otherwise the call fails with errno set. */
static int refused(int is_write, int descriptor, const void* data, size_t size) {
  const char* at = getenv("SHIM_AT");
  const char* mode = getenv("SHIM_MODE");
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != (at ? atol(at) : 0) || !mode) return 0;
  if (strcmp(mode, "torn") == 0 && is_write) {
    ssize_t (*real)(int, const void*, size_t) = dlsym(RTLD_NEXT, "write");
    real(descriptor, data, size / 2);
  }
  if (strcmp(mode, "kill") == 0 || strcmp(mode, "torn") == 0) die();
  errno = atoi(mode);
  return 1;
}

ssize_t write(int descriptor, const void* data, size_t size) {
  ssize_t (*real)(int, const void*, size_t) = dlsym(RTLD_NEXT, "write");
  if (descriptor > 2 && refused(1, descriptor, data, size)) return -1;
  return real(descriptor, data, size);
}

static void stop_once(void) {
  static int stopped;
  const char* path = getenv("SHIM_STOP");
  if (!path || access(path, F_OK) != 0 || __atomic_exchange_n(&stopped, 1, __ATOMIC_SEQ_CST)) return;
  kill(getpid(), SIGSTOP);
}

int fsync(int descriptor) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  stop_once();
  return refused(0, 0, 0, 0) ? -1 : real(descriptor);
}

int ftruncate(int descriptor, off_t size) {
  int (*real)(int, off_t) = dlsym(RTLD_NEXT, "ftruncate");
  return refused(0, 0, 0, 0) ? -1 : real(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int rename(const char* from, const char* to) {
  int (*real)(const char*, const char*) = dlsym(RTLD_NEXT, "rename");
  return refused(0, 0, 0, 0) ? -1 : real(from, to);
}

int unlink(const char* path) {
  int (*real)(const char*) = dlsym(RTLD_NEXT, "unlink");
  return refused(0, 0, 0, 0) ? -1 : real(path);
}

int remove(const char* path) {
  int (*real)(const char*) = dlsym(RTLD_NEXT, "remove");
  return refused(0, 0, 0, 0) ? -1 : real(path);
}

static int open_with(const char* name, const char* path, int flags, mode_t mode) {
  int (*real)(const char*, int, ...) = dlsym(RTLD_NEXT, name);
  if ((flags & (O_WRONLY | O_RDWR)) && refused(0, 0, 0, 0)) return -1;
  return real(path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_with("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_with("open64", path, flags, mode);
}

__attribute__((destructor)) static void report(void) {
  const char* path = getenv("SHIM_COUNT");
  FILE* file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", calls);
  fclose(file);
}

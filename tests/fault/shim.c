// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a program that works with files: counts its calls, and at one of them ends the
// process, cuts a write in half and ends it, or lets the call fail.
//
//   SHIM_CALLS   writes (default): open for writing, write, fsync, ftruncate, mkdir, rename, unlink;
//                reads: open for reading and of folders, read, mmap, stat, fstat and lstat
//   SHIM_AT      the number of the call, from 1 on; none: only count
//   SHIM_MODE    kill, torn, or the number of an error (28: the disk is full)
//   SHIM_COUNT   a file that gets the number of calls when the program ends
//   SHIM_TRACE   a file that gets a line for each call that changed a file or brought one to the
//                disk: create, write, fsync, rename, mkdir or unlink, and the paths behind tabs
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long calls;

static void die(void) { kill(getpid(), SIGKILL); }

/* After a call that went well. Paths of the tests have no tabs. */
static void trace(const char* call, const char* path, const char* second) {
  const char* name = getenv("SHIM_TRACE");
  if (!name) return;
  int (*real_open)(const char*, int, ...) = dlsym(RTLD_NEXT, "open");
  ssize_t (*real_write)(int, const void*, size_t) = dlsym(RTLD_NEXT, "write");
  char line[9000];
  const int size = snprintf(line, sizeof line, "%s\t%s%s%s\n", call, path, second ? "\t" : "",
                            second ? second : "");
  const int file = real_open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 || real_write(file, line, size) != size) abort();
  close(file);
}

static void trace_open(const char* call, int descriptor) {
  if (!getenv("SHIM_TRACE")) return;
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) abort();
  path[size] = 0;
  trace(call, path, NULL);
}

static int are_counted(const char* calls) {
  const char* counted = getenv("SHIM_CALLS");
  return strcmp(counted ? counted : "writes", calls) == 0;
}

/* 0: go on; otherwise the call fails with errno set. */
static int refused_read(void) {
  const char* at = getenv("SHIM_AT");
  const char* mode = getenv("SHIM_MODE");
  if (!are_counted("reads")) return 0;
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != (at ? atol(at) : 0) || !mode) return 0;
  errno = atoi(mode);
  return 1;
}

static int refused(int is_write, int descriptor, const void* data, size_t size) {
  if (!are_counted("writes")) return 0;
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
  const ssize_t written = real(descriptor, data, size);
  if (descriptor > 2 && written >= 0) trace_open("write", descriptor);
  return written;
}

ssize_t read(int descriptor, void* data, size_t size) {
  ssize_t (*real)(int, void*, size_t) = dlsym(RTLD_NEXT, "read");
  return descriptor > 2 && refused_read() ? -1 : real(descriptor, data, size);
}

void* mmap(void* place, size_t size, int protection, int flags, int descriptor, off_t offset) {
  void* (*real)(void*, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");
  if (descriptor >= 0 && refused_read()) return MAP_FAILED;
  return real(place, size, protection, flags, descriptor, offset);
}

int fstat(int descriptor, struct stat* status) {
  int (*real)(int, struct stat*) = dlsym(RTLD_NEXT, "fstat");
  return descriptor > 2 && refused_read() ? -1 : real(descriptor, status);
}

int stat(const char* path, struct stat* status) {
  int (*real)(const char*, struct stat*) = dlsym(RTLD_NEXT, "stat");
  return refused_read() ? -1 : real(path, status);
}

int lstat(const char* path, struct stat* status) {
  int (*real)(const char*, struct stat*) = dlsym(RTLD_NEXT, "lstat");
  return refused_read() ? -1 : real(path, status);
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
  if (refused(0, 0, 0, 0)) return -1;
  const int result = real(descriptor);
  if (result == 0) trace_open("fsync", descriptor);
  return result;
}

int ftruncate(int descriptor, off_t size) {
  int (*real)(int, off_t) = dlsym(RTLD_NEXT, "ftruncate");
  if (refused(0, 0, 0, 0)) return -1;
  const int result = real(descriptor, size);
  if (result == 0) trace_open("write", descriptor);
  return result;
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int rename(const char* from, const char* to) {
  int (*real)(const char*, const char*) = dlsym(RTLD_NEXT, "rename");
  if (refused(0, 0, 0, 0)) return -1;
  const int result = real(from, to);
  if (result == 0) trace("rename", from, to);
  return result;
}

int mkdir(const char* path, mode_t mode) {
  int (*real)(const char*, mode_t) = dlsym(RTLD_NEXT, "mkdir");
  if (refused(0, 0, 0, 0)) return -1;
  const int result = real(path, mode);
  if (result == 0) trace("mkdir", path, NULL);
  return result;
}

int unlink(const char* path) {
  int (*real)(const char*) = dlsym(RTLD_NEXT, "unlink");
  if (refused(0, 0, 0, 0)) return -1;
  const int result = real(path);
  if (result == 0) trace("unlink", path, NULL);
  return result;
}

int remove(const char* path) {
  int (*real)(const char*) = dlsym(RTLD_NEXT, "remove");
  if (refused(0, 0, 0, 0)) return -1;
  const int result = real(path);
  if (result == 0) trace("unlink", path, NULL);
  return result;
}

static int open_with(const char* name, const char* path, int flags, mode_t mode) {
  int (*real)(const char*, int, ...) = dlsym(RTLD_NEXT, name);
  if ((flags & (O_WRONLY | O_RDWR)) ? refused(0, 0, 0, 0) : refused_read()) return -1;
  const int descriptor = real(path, flags, mode);
  // Who makes a file here wants none to be there.
  if (descriptor >= 0 && (flags & O_EXCL)) trace_open("create", descriptor);
  return descriptor;
}

int openat(int folder, const char* path, int flags, ...) {
  int (*real)(int, const char*, int, ...) = dlsym(RTLD_NEXT, "openat");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return refused_read() ? -1 : real(folder, path, flags, mode);
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

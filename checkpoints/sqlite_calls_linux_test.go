//go:build linux && (amd64 || arm64)

package checkpoints

import (
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite reaches the disk through a table of system calls that may be replaced (sqlite3_vfs.xSetSystemCall), and
// through xSync of its files, for fsync is not in that table. All of them are replaced here, for the whole test binary:
// a call for a file in a folder that somebody watches is shown to the watcher, who may make it fail; all others pass.

type diskCall struct {
	kind string // see below
	path string
	at   int64  // offset of a write
	data []byte // of a write; valid during the call only
	size int64  // of a truncate
}

const (
	callOpen     = "open"
	callRead     = "read"
	callWrite    = "write"
	callTruncate = "truncate"
	callSync     = "sync"
	callUnlink   = "unlink"
	callRename   = "rename"     // to path; ours, not SQLite's
	callSyncDir  = "syncfolder" // of the folder of path
)

// A watcher sees the calls for the files of one folder, one at a time.
type watcher interface {
	before(diskCall) syscall.Errno // other than 0: the call fails with it, and after is not told
	after(diskCall)
}

var calls = struct {
	sync.Mutex
	watchers map[string]watcher // by folder
	open     map[int32]string   // path by descriptor
	methods  map[uintptr]uintptr
	keep     []any // Go functions that SQLite points to
}{watchers: map[string]watcher{}, open: map[int32]string{}, methods: map[uintptr]uintptr{}}

// watch lets w see what SQLite does in a folder; the folder must not be in use.
func watch(folder string, w watcher) {
	calls.Lock()
	defer calls.Unlock()
	if w == nil {
		delete(calls.watchers, folder)
	} else {
		calls.watchers[folder] = w
	}
}

func watcherOf(path string) watcher {
	calls.Lock()
	defer calls.Unlock()
	return calls.watchers[filepath.Dir(path)]
}

func pathOf(fd int32) string {
	calls.Lock()
	defer calls.Unlock()
	return calls.open[fd]
}

// at reads a pointer of SQLite's memory, which the collector knows nothing of.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// pointer makes a Go function callable for SQLite.
func pointer[F any](f F) uintptr {
	p := *(*uintptr)(unsafe.Pointer(&f))
	calls.keep = append(calls.keep, f)
	return p
}

func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

func fail(tls *libc.TLS, errno syscall.Errno) {
	*at[int32](libc.X__errno_location(tls)) = int32(errno)
}

func init() {
	tls := libc.NewTLS() // for ever: SQLite's globals are set up with it
	if rc := sqlite3.Xsqlite3_initialize(tls); rc != sqlite3.SQLITE_OK {
		panic(fmt.Sprintf("initialize SQLite: %d", rc))
	}
	vfs := at[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(tls, 0))
	replaceSystemCalls(tls, vfs)

	type openFunc = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	open := function[openFunc](vfs.FxOpen)
	vfs.FxOpen = pointer(openFunc(func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
		rc := open(tls, vfs, name, file, flags, out)
		if methods := &at[sqlite3.Tsqlite3_file](file).FpMethods; rc == sqlite3.SQLITE_OK && *methods != 0 {
			*methods = watchedMethods(tls, *methods)
		}
		return rc
	}))
}

// replaceSystemCalls puts ours before those of the table that 64-bit Linux uses.
func replaceSystemCalls(tls *libc.TLS, vfs *sqlite3.Tsqlite3_vfs) {
	self := uintptr(unsafe.Pointer(vfs))
	set := function[func(tls *libc.TLS, vfs, name, call uintptr) int32](vfs.FxSetSystemCall)
	get := function[func(tls *libc.TLS, vfs, name uintptr) uintptr](vfs.FxGetSystemCall)
	replace := func(name string, by func(original uintptr) uintptr) {
		cName, err := libc.CString(name)
		if err != nil {
			panic(err)
		}
		original := get(tls, self, cName)
		if original == 0 {
			panic("SQLite has no system call " + name)
		}
		if rc := set(tls, self, cName, by(original)); rc != sqlite3.SQLITE_OK {
			panic(fmt.Sprintf("replace %s: %d", name, rc))
		}
	}
	type openCall = func(tls *libc.TLS, path uintptr, flags, mode int32) int32
	replace("open", func(original uintptr) uintptr {
		open := function[openCall](original)
		return pointer(openCall(func(tls *libc.TLS, name uintptr, flags, mode int32) int32 {
			path := libc.GoString(name)
			c := diskCall{kind: callOpen, path: path}
			w := watcherOf(path)
			if folder := watcherOf(path + "/."); folder != nil { // to sync it, which follows at once
				c.kind, w = callSyncDir, folder
			}
			var fd int32
			if !watched(tls, w, c, func() bool { fd = open(tls, name, flags, mode); return fd >= 0 }) {
				return -1
			}
			if fd >= 0 {
				calls.Lock()
				calls.open[fd] = path
				calls.Unlock()
			}
			return fd
		}))
	})
	type closeCall = func(tls *libc.TLS, fd int32) int32
	replace("close", func(original uintptr) uintptr {
		closeIt := function[closeCall](original)
		return pointer(closeCall(func(tls *libc.TLS, fd int32) int32 {
			calls.Lock()
			delete(calls.open, fd)
			calls.Unlock()
			return closeIt(tls, fd)
		}))
	})
	type transfer = func(tls *libc.TLS, fd int32, buffer uintptr, n uint64, at int64) int64
	replace("pread", func(original uintptr) uintptr {
		read := function[transfer](original)
		return pointer(transfer(func(tls *libc.TLS, fd int32, buffer uintptr, n uint64, offset int64) (got int64) {
			path := pathOf(fd)
			if !watched(tls, watcherOf(path), diskCall{kind: callRead, path: path, at: offset}, func() bool {
				got = read(tls, fd, buffer, n, offset)
				return got >= 0
			}) {
				return -1
			}
			return got
		}))
	})
	replace("pwrite", func(original uintptr) uintptr {
		write := function[transfer](original)
		return pointer(transfer(func(tls *libc.TLS, fd int32, buffer uintptr, n uint64, offset int64) (put int64) {
			path := pathOf(fd)
			c := diskCall{kind: callWrite, path: path, at: offset, data: unsafe.Slice(at[byte](buffer), n)}
			if !watched(tls, watcherOf(path), c, func() bool {
				put = write(tls, fd, buffer, n, offset)
				return put == int64(n)
			}) {
				return -1
			}
			return put
		}))
	})
	type truncateCall = func(tls *libc.TLS, fd int32, size int64) int32
	replace("ftruncate", func(original uintptr) uintptr {
		truncate := function[truncateCall](original)
		return pointer(truncateCall(func(tls *libc.TLS, fd int32, size int64) (rc int32) {
			path := pathOf(fd)
			if !watched(tls, watcherOf(path), diskCall{kind: callTruncate, path: path, size: size}, func() bool {
				rc = truncate(tls, fd, size)
				return rc == 0
			}) {
				return -1
			}
			return rc
		}))
	})
	type unlinkCall = func(tls *libc.TLS, name uintptr) int32
	replace("unlink", func(original uintptr) uintptr {
		unlink := function[unlinkCall](original)
		return pointer(unlinkCall(func(tls *libc.TLS, name uintptr) (rc int32) {
			path := libc.GoString(name)
			if !watched(tls, watcherOf(path), diskCall{kind: callUnlink, path: path}, func() bool {
				rc = unlink(tls, name)
				return rc == 0
			}) {
				return -1
			}
			return rc
		}))
	})
}

// watched shows a call to its watcher, and reports whether it was made at all.
func watched(tls *libc.TLS, w watcher, c diskCall, do func() (done bool)) (made bool) {
	if w == nil {
		do()
		return true
	}
	if errno := w.before(c); errno != 0 {
		fail(tls, errno)
		return false
	}
	if do() {
		w.after(c)
	}
	return true
}

// watchedMethods is a copy of the methods of a file with an xSync of ours. The file begins as unixFile does.
func watchedMethods(tls *libc.TLS, base uintptr) uintptr {
	calls.Lock()
	defer calls.Unlock()
	if ours, ok := calls.methods[base]; ok {
		return ours
	}
	methods := *at[sqlite3.Tsqlite3_io_methods](base)
	type syncFunc = func(tls *libc.TLS, file uintptr, flags int32) int32
	syncFile := function[syncFunc](methods.FxSync)
	methods.FxSync = pointer(syncFunc(func(tls *libc.TLS, file uintptr, flags int32) (rc int32) {
		path := pathOf(at[sqlite3.TunixFile](file).Fh)
		if !watched(tls, watcherOf(path), diskCall{kind: callSync, path: path}, func() bool {
			rc = syncFile(tls, file, flags) // and, once, the folder of a new file
			return rc == sqlite3.SQLITE_OK
		}) {
			return sqlite3.SQLITE_IOERR_FSYNC
		}
		return rc
	}))
	ours := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(methods)))
	*at[sqlite3.Tsqlite3_io_methods](ours) = methods
	calls.methods[base] = ours
	return ours
}

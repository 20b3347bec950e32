package probe

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"filewise"
)

// readProcess reads this process's CPU time and I/O. The times advance with the clock's tick, about 16 ms.
func readProcess() ([]filewise.Counter, error) {
	var created, exited, system, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &system, &user); err != nil {
		return nil, fmt.Errorf("GetProcessTimes: %w", err)
	}
	all := []filewise.Counter{{Name: "user", Unit: "s", Value: seconds(user)}, {Name: "system", Unit: "s", Value: seconds(system)}}
	// The times are valid without the I/O. If a process seems never to have read anything, its I/O is not counted, as
	// under Wine.
	var io windows.IO_COUNTERS
	if ok, _, _ := processIO.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&io))); ok != 0 && io != (windows.IO_COUNTERS{}) {
		all = append(all,
			filewise.Counter{Name: "bytes read by calls", Unit: "B", Value: float64(io.ReadTransferCount)},
			filewise.Counter{Name: "bytes written by calls", Unit: "B", Value: float64(io.WriteTransferCount)},
			filewise.Counter{Name: "read calls", Unit: "calls", Value: float64(io.ReadOperationCount)},
			filewise.Counter{Name: "write calls", Unit: "calls", Value: float64(io.WriteOperationCount)})
	}
	return all, nil
}

var processIO = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetProcessIoCounters")

// seconds converts a Windows duration, in units of 100 ns, to seconds.
func seconds(t windows.Filetime) float64 {
	return (time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100).Seconds()
}

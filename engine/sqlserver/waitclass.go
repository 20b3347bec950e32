// This file classifies SQL Server's types of waits.

package sqlserver

import (
	"strings"

	"filewise"
)

// benign lists waits of idle tasks and of tasks that wait on purpose (Microsoft: “sys.dm_os_wait_stats”, the types
// described as idle, background or sleeping; Paul Randal, “SQL Server wait statistics”, whose list of waits to leave
// out is widely used). Waits with one of benignPrefixes are also benign.
var benign = map[string]bool{
	"BROKER_EVENTHANDLER": true, "BROKER_RECEIVE_WAITFOR": true, "BROKER_TASK_STOP": true, "BROKER_TO_FLUSH": true, "BROKER_TRANSMITTER": true,
	"CHECKPOINT_QUEUE": true, "CHKPT": true, "CLR_AUTO_EVENT": true, "CLR_MANUAL_EVENT": true, "CLR_SEMAPHORE": true, "CXCONSUMER": true,
	"DIRTY_PAGE_POLL": true, "DISPATCHER_QUEUE_SEMAPHORE": true, "EXECSYNC": true, "FSAGENT": true, "FT_IFTS_SCHEDULER_IDLE_WAIT": true,
	"FT_IFTSHC_MUTEX": true,
	"KSOURCE_WAKEUP":  true, "LAZYWRITER_SLEEP": true, "LOGMGR_QUEUE": true, "MEMORY_ALLOCATION_EXT": true, "ONDEMAND_TASK_QUEUE": true,
	"PARALLEL_REDO_DRAIN_WORKER": true, "PARALLEL_REDO_LOG_CACHE": true, "PARALLEL_REDO_TRAN_LIST": true, "PARALLEL_REDO_WORKER_SYNC": true,
	"PARALLEL_REDO_WORKER_WAIT_WORK": true,
	"PREEMPTIVE_XE_GETTARGETSTATE":   true, "PVS_PREALLOCATE": true, "REQUEST_FOR_DEADLOCK_SEARCH": true, "RESOURCE_QUEUE": true,
	"SERVER_IDLE_CHECK": true,
	"SNI_HTTP_ACCEPT":   true, "SOS_WORK_DISPATCHER": true, "SP_SERVER_DIAGNOSTICS_SLEEP": true, "VDI_CLIENT_OTHER": true,
	"WAIT_FOR_RESULTS": true, "WAITFOR": true,
	"WAITFOR_TASKSHUTDOWN": true, "STARTUP_DEPENDENCY_MANAGER": true, "REDO_THREAD_PENDING_WORK": true, "UCS_SESSION_REGISTRATION": true,
}

// benignPrefixes lists the prefixes of further benign waits.
var benignPrefixes = []string{"SLEEP_", "XE_", "QDS_", "SQLTRACE_", "HADR_", "DBMIRROR", "WAIT_XTP_", "PWAIT_", "PREEMPTIVE_HADR_",
	"PREEMPTIVE_OS_FLUSHFILEBUFFERS", "BROKER_CONNECTION_"}

// keptClasses lists waits that are not benign although their names begin like benign ones: commits wait for a replica.
var keptClasses = map[string]bool{"HADR_SYNC_COMMIT": true, "DBMIRROR_SEND": true}

// waitPrefixes classifies all other waits by the first prefix that fits.
var waitPrefixes = []struct {
	prefix string
	class  filewise.WaitClass
}{
	{"HADR_SYNC_COMMIT", filewise.WaitNetwork}, {"DBMIRROR_SEND", filewise.WaitNetwork}, {"ASYNC_NETWORK_IO", filewise.WaitNetwork},
	{"NETWORK_IO", filewise.WaitNetwork},
	{"PAGEIOLATCH_", filewise.WaitDataRead}, {"WRITELOG", filewise.WaitLog}, {"LOGBUFFER", filewise.WaitLog},
	{"LOG_RATE_GOVERNOR", filewise.WaitLog}, {"LOGMGR", filewise.WaitLog},
	{"ASYNC_IO_COMPLETION", filewise.WaitDataWrite}, {"IO_COMPLETION", filewise.WaitDataWrite}, {"WRITE_COMPLETION", filewise.WaitDataWrite},
	{"PREEMPTIVE_OS_WRITEFILEGATHER", filewise.WaitAllocation},
	{"IO_QUEUE_LIMIT", filewise.WaitDataWrite}, {"BACKUPIO", filewise.WaitDataWrite}, {"PAGELATCH_", filewise.WaitLatch},
	{"LATCH_", filewise.WaitLatch},
	{"LCK_", filewise.WaitLock}, {"RESOURCE_SEMAPHORE", filewise.WaitMemory},
}

// waitClassOf returns the class of a wait type, or "" if the type is benign. PAGELATCH is about pages in memory; its
// name does not show which of them are allocation pages.
func waitClassOf(name string) filewise.WaitClass {
	if !keptClasses[name] {
		if benign[name] {
			return ""
		}
		for _, p := range benignPrefixes {
			if strings.HasPrefix(name, p) {
				return ""
			}
		}
	}
	for _, w := range waitPrefixes {
		if strings.HasPrefix(name, w.prefix) {
			return w.class
		}
	}
	return filewise.WaitOther
}

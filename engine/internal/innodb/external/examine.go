package external

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
)

// Examine looks at everything that decides whether the demand can be met, and
// at what will distort the result. It reads only.
func (s *server) Examine(ctx context.Context, d filewise.Demand) []filewise.Finding {
	e := &examination{server: s, demand: d}
	e.status = map[string]string{}
	if all, err := readPairs(ctx, s.db, "SHOW GLOBAL STATUS"); err == nil {
		e.status = all
	} else {
		e.note("status", "SHOW GLOBAL STATUS could not be read: "+s.explain(err).Error(), "")
	}
	e.ok("version", s.dialect.Product+" "+s.version+" ("+s.vars["version_comment"]+")")
	e.provider()
	e.rightsHeld()
	e.writable()
	e.engine()
	e.directories()
	e.connections()
	e.packets()
	e.files()
	e.space()
	e.durability()
	e.memory()
	e.logs()
	e.replication(ctx)
	e.settling()
	e.host()
	e.activity(ctx)
	e.measured(ctx)
	e.leftovers(ctx)
	return e.findings
}

// examination collects findings.
type examination struct {
	server   *server
	demand   filewise.Demand
	status   map[string]string
	findings []filewise.Finding
}

func (e *examination) add(check string, status filewise.Status, detail, remedy string) {
	e.findings = append(e.findings, filewise.Finding{Check: check, Status: status, Detail: detail, Remedy: remedy})
}

func (e *examination) ok(check, detail string) { e.add(check, filewise.StatusOK, detail, "") }
func (e *examination) note(check, detail, remedy string) {
	e.add(check, filewise.StatusNote, detail, remedy)
}
func (e *examination) warn(check, detail, remedy string) {
	e.add(check, filewise.StatusWarning, detail, remedy)
}
func (e *examination) failed(check, detail, remedy string) {
	e.add(check, filewise.StatusFailed, detail, remedy)
}

// number64 is a variable or status as a number; absent: −1.
func number64(all map[string]string, name string) int64 {
	n, err := strconv.ParseInt(all[name], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func (e *examination) rightsHeld() {
	s := e.server
	if s.on("partial_revokes") {
		e.note("rights", "partial_revokes is on: the server takes `filewise\\_%` in a GRANT for one name, so rights on databases of that pattern have no effect",
			"have the rights granted ON *.*, or partial_revokes turned off")
	}
	if missing := s.rights.missing(needed); len(missing) > 0 {
		e.failed("rights on databases of Filewise's", "the account lacks "+strings.Join(missing, ", "), e.server.grant(missing, ours))
	} else {
		e.ok("rights on databases of Filewise's", "all are there")
	}
	if missing := s.rights.missing(seeing); len(missing) > 0 {
		e.note("rights to see others' objects", "the account lacks "+strings.Join(missing, ", ")+": events and triggers that others put into a database of Filewise's are not seen, and go when it is dropped", e.server.grant(missing, ours))
	}
	if !s.rights.global["PROCESS"] {
		e.warn("right PROCESS", "the account does not have it: files are taken from the tables' catalogue instead of InnoDB's own, and what others do on the server is not seen",
			e.server.grant([]string{"PROCESS"}, "*.*"))
	} else {
		e.ok("right PROCESS", "InnoDB's own catalogue and others' sessions are seen")
	}
}

// writable: a server that takes no writes cannot be measured.
func (e *examination) writable() {
	for _, name := range []string{"read_only", "super_read_only", "innodb_read_only"} {
		if e.server.on(name) || strings.HasPrefix(e.server.vars[name], "NO_LOCK") {
			e.failed("writes", fmt.Sprintf("%s is %s: the server takes no writes", name, e.server.vars[name]), "use the primary server, or one that is no replica")
			return
		}
	}
	if n := number64(e.server.vars, "innodb_force_recovery"); n > 0 {
		e.failed("writes", fmt.Sprintf("innodb_force_recovery is %d: InnoDB takes no writes", n), "have the server repaired first")
		return
	}
	e.ok("writes", "the server takes writes")
}

func (e *examination) engine() {
	s := e.server
	if _, ok := s.vars["innodb_file_per_table"]; ok && !s.on("innodb_file_per_table") {
		e.failed("files of tables", "innodb_file_per_table is OFF: tables and partitions lie in the system tablespace, not in files of their own",
			"have it set to ON for the time of the experiment (SET GLOBAL), or use a private server: --engine "+s.dialect.Name)
	} else {
		e.ok("files of tables", "each table and partition has a file of its own")
	}
	if v := s.vars["enforce_storage_engine"]; v != "" && !strings.EqualFold(v, "InnoDB") {
		e.failed("storage engine", "enforce_storage_engine is "+v+": the server makes every table one of that engine", "have it unset for the time of the experiment")
	}
	for _, name := range []string{"innodb_encrypt_tables", "default_table_encryption"} {
		if v := s.vars[name]; v != "" && v != "OFF" {
			e.note("encryption", name+" is "+v+": Filewise's tables are encrypted too, as the server's others are", "")
		}
	}
}

func (e *examination) directories() {
	dirs := dirsOf(e.server.target.Volumes)
	if len(dirs) == 0 {
		return
	}
	if err := e.server.checkDirectories(dirs); err != nil {
		e.failed("directories", err.Error(), filewise.RemedyOf(err))
		return
	}
	e.ok("directories", "the server puts tables into "+strings.Join(dirs, ", "))
}

// connections: those of the workload, and Filewise's own, must fit into what is
// free of the server's limits and the account's.
func (e *examination) connections() {
	s := e.server
	need := int64(e.demand.Program.Connections + 2*controlConnections + 2)
	limit, used := number64(s.vars, "max_connections"), number64(e.status, "Threads_connected")
	if limit > 0 && used >= 0 && limit-used < need {
		e.failed("connections", fmt.Sprintf("%d are needed, and of max_connections = %d the server has %d in use", need, limit, used),
			"use fewer --connections, or have max_connections raised")
		return
	}
	if s.most > 0 && s.most < need {
		e.failed("connections", fmt.Sprintf("%d are needed, and the account %s may have %d (max_user_connections)", need, s.account, s.most),
			"use fewer --connections, or have the account's or the server's limit raised: ALTER USER "+s.account+" WITH MAX_USER_CONNECTIONS "+strconv.FormatInt(need, 10))
		return
	}
	e.ok("connections", fmt.Sprintf("%d are needed; %d of %d are in use", need, max(used, 0), limit))
}

// packets: the server refuses longer statements, and makes NULL of longer texts.
func (e *examination) packets() {
	need := leastPacket + e.demand.Program.OpBytes
	limit := number64(e.server.vars, "max_allowed_packet")
	if limit >= 0 && limit < need {
		e.failed("length of statements", fmt.Sprintf("max_allowed_packet is %d bytes, and %d are needed", limit, need),
			"have it raised (SET GLOBAL max_allowed_packet = 4194304), or use a private server: --engine "+e.server.dialect.Name)
		return
	}
	e.ok("length of statements", fmt.Sprintf("%d bytes are needed; max_allowed_packet is %d", need, limit))
}

// leastPacket is room for a statement of a hundred rows and for the text that
// payloads are cut from, but for the one payload more.
const leastPacket = 256 << 10

// files: a server that cannot keep all files open closes and opens them while it
// is measured.
func (e *examination) files() {
	most := 0
	for _, l := range e.demand.Layouts {
		most = max(most, l.Data.Files)
	}
	if n := number64(e.server.vars, "innodb_open_files"); n > 0 && int64(most) > n/2 {
		e.warn("open files", fmt.Sprintf("a layout has %d files, and InnoDB keeps up to %d open (innodb_open_files) for all databases: it would close and open them while measuring", most, n),
			"use fewer files, or have innodb_open_files raised")
	}
}

func (e *examination) durability() {
	s := e.server
	flush, sync := s.vars["innodb_flush_log_at_trx_commit"], s.vars["sync_binlog"]
	is := filewise.DurabilityFull
	switch {
	case flush == "0":
		is = filewise.DurabilityOff
	case flush == "2" || s.on("log_bin") && sync != "1":
		is = filewise.DurabilityNormal
	}
	detail := fmt.Sprintf("innodb_flush_log_at_trx_commit is %s, sync_binlog %s (binary log %s): durability %s", flush, sync, s.vars["log_bin"], is)
	if want := s.target.Durability; want != "" && want != is {
		e.warn("durability", detail+", where "+string(want)+" was asked for; it is a setting of the whole server, which Filewise does not change", "have it set on the server, or give --durability "+string(is))
		return
	}
	e.ok("durability", detail)
	if s.dialect == MariaDB && is == filewise.DurabilityFull && !s.on("log_bin") {
		e.warn("commits", "without a binary log, MariaDB 10.6 and later let the commits inside a CALL wait for the storage together, at its end: single commits do not each wait, whatever the durability, so these figures cannot be compared with those of a private server",
			"measure a server with a binary log (sync_binlog=1), or a private one: --engine mariadb, which has one")
	}
}

func (e *examination) memory() {
	pool := number64(e.server.vars, "innodb_buffer_pool_size")
	var size int64
	for _, l := range e.demand.Layouts {
		size = max(size, l.Data.Bytes)
	}
	if pool > 0 && size > 0 && size < pool {
		e.warn("memory", fmt.Sprintf("the data (%s) fits into the buffer pool (%s), which others use too: reads do not reach the storage, and the server decides when it writes",
			humanize.IBytes(uint64(size)), humanize.IBytes(uint64(pool))), "use a --size of several times the buffer pool for statements about reading")
	}
}

func (e *examination) logs() {
	s := e.server
	if s.on("general_log") {
		e.warn("general log", "general_log is on: the server writes every statement to it", "have it turned off while measuring")
	}
	if s.on("slow_query_log") || s.on("log_slow_query") {
		if t, err := strconv.ParseFloat(s.vars["long_query_time"], 64); err == nil && t < 0.5 {
			e.warn("slow query log", fmt.Sprintf("the slow query log takes statements of %v s and more: calls of the workload are among them", t), "have long_query_time raised while measuring")
		}
	}
	if s.on("log_bin") {
		e.note("binary log", "the server writes all changes to its binary log too (binlog_format "+s.vars["binlog_format"]+"), which takes room until it expires", "")
	}
}

func (e *examination) settling() {
	s := e.server
	if s.flushes() {
		e.ok("settling", s.settling())
		return
	}
	e.warn("settling", s.settling()+". Some of the work's writes may come after the measured time, or never, as the database is dropped first",
		s.grant([]string{s.dialect.FlushRight}, "*.*")+"; "+s.grant([]string{lockTables}, ours))
}

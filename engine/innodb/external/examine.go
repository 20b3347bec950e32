package external

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/internal/findings"
)

// Examine checks all that decides whether the demand can be met, and what will distort the result. It only reads.
func (s *server) Examine(ctx context.Context, d filewise.Demand) []filewise.Finding {
	e := &examination{Examination: &findings.Examination{Demand: d}, server: s}
	var err error
	if e.status, err = dialect.Status(ctx, s.db); err != nil {
		e.Unseen("status", s.explain(err))
	}
	e.OK("version", "%s", s.product.Title+" "+s.version+" ("+s.vars["version_comment"]+")")
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
	e.Leftovers(ctx, s, s.target.Address.String())
	return e.Findings
}

// examination collects findings about a server.
type examination struct {
	*findings.Examination
	server *server
	status map[string]string
}

// number64 returns a variable or status as a number, or −1 if it is absent.
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
		e.Note("rights", "have the rights granted ON *.*, or partial_revokes turned off", "%s",
			"partial_revokes is on: the server takes `filewise\\_%` in a GRANT for one name, so rights on databases of that pattern have no effect")
	}
	if missing := s.rights.missing(needed); len(missing) > 0 {
		e.Fail("rights on databases of Filewise's", e.server.grant(missing, ours), "%s", "the account lacks "+strings.Join(missing, ", "))
	} else {
		e.OK("rights on databases of Filewise's", "all are there")
	}
	if !s.rights.global["PROCESS"] {
		e.Warn("right PROCESS", e.server.grant([]string{"PROCESS"}, "*.*"),
			"the account does not have it: files are taken from the tables' catalogue instead of InnoDB's own, and what others do on the server "+
				"is not seen")
	} else {
		e.OK("right PROCESS", "InnoDB's own catalogue and others' sessions are seen")
	}
}

// writable checks that the server accepts writes, without which it cannot be measured.
func (e *examination) writable() {
	for _, name := range []string{"read_only", "super_read_only", "innodb_read_only"} {
		if e.server.on(name) || strings.HasPrefix(e.server.vars[name], "NO_LOCK") {
			e.Fail("writes", "use the primary server, or one that is no replica", "%s is %s: the server takes no writes", name, e.server.vars[name])
			return
		}
	}
	if n := number64(e.server.vars, "innodb_force_recovery"); n > 0 {
		e.Fail("writes", "have the server repaired first", "innodb_force_recovery is %d: InnoDB takes no writes", n)
		return
	}
	e.OK("writes", "the server takes writes")
}

func (e *examination) engine() {
	s := e.server
	if _, ok := s.vars["innodb_file_per_table"]; ok && !s.on("innodb_file_per_table") {
		e.Fail("files of tables", "have it set to ON for the time of the experiment (SET GLOBAL), or use a managed server: --engine "+
			s.product.Name, "innodb_file_per_table is OFF: tables and partitions lie in the system tablespace, not in separate files")
	} else {
		e.OK("files of tables", "each table and partition has a separate file")
	}
	if v := s.vars["enforce_storage_engine"]; v != "" && !strings.EqualFold(v, "InnoDB") {
		e.Fail("storage engine", "have it unset for the time of the experiment", "%s",
			"enforce_storage_engine is "+v+": the server makes every table one of that engine")
	}
	for _, name := range []string{"innodb_encrypt_tables", "default_table_encryption"} {
		if v := s.vars[name]; v != "" && v != "OFF" {
			e.Note("encryption", "", "%s", name+" is "+v+": Filewise's tables are encrypted too, as the server's others are")
		}
	}
}

func (e *examination) directories() {
	dirs := dialect.Dirs(e.server.target.Volumes)
	if len(dirs) == 0 {
		return
	}
	if err := e.server.checkDirectories(dirs); err != nil {
		e.Fail("directories", filewise.RemedyOf(err), "%s", err.Error())
		return
	}
	e.OK("directories", "%s", "the server puts tables into "+strings.Join(dirs, ", "))
}

// connections checks that the workload's and Filewise's connections fit into what is free of the server's and the
// account's limits.
func (e *examination) connections() {
	s := e.server
	need := int64(e.Demand.Program.Connections() + 2*controlConnections + 2)
	limit, used := number64(s.vars, "max_connections"), number64(e.status, "Threads_connected")
	if limit > 0 && used >= 0 && limit-used < need {
		e.Fail("connections", "use fewer --connections, or have max_connections raised",
			"%d are needed, and of max_connections = %d the server has %d in use", need, limit, used)
		return
	}
	if s.most > 0 && s.most < need {
		e.Fail("connections", "use fewer --connections, or have the account's or the server's limit raised: ALTER USER "+s.account+
			" WITH MAX_USER_CONNECTIONS "+strconv.FormatInt(need,
			10), "%d are needed, and the account %s may have %d (max_user_connections)", need, s.account, s.most)
		return
	}
	e.OK("connections", "%d are needed; %d of %d are in use", need, max(used, 0), limit)
}

// packets checks max_allowed_packet. The server refuses longer statements, and replaces longer texts by NULL.
func (e *examination) packets() {
	need := leastPacket + e.Demand.Program.First().OpBytes
	limit := number64(e.server.vars, "max_allowed_packet")
	if limit >= 0 && limit < need {
		e.Fail("length of statements", "have it raised (SET GLOBAL max_allowed_packet = 4194304), or use a managed server: --engine "+
			e.server.product.Name, "max_allowed_packet is %d bytes, and %d are needed", limit, need)
		return
	}
	e.OK("length of statements", "%d bytes are needed; max_allowed_packet is %d", need, limit)
}

// leastPacket is the size of a statement of a hundred rows, or of the text from which payloads are cut, without one
// more payload.
const leastPacket = 256 << 10

// files checks that the server can keep all files open. Otherwise it closes and opens files while it is measured.
func (e *examination) files() {
	most := 0
	for _, l := range e.Demand.Layouts {
		most = max(most, l.Data.Files)
	}
	if n := number64(e.server.vars, "innodb_open_files"); n > 0 && int64(most) > n/2 {
		e.Warn("open files", "use fewer files, or have innodb_open_files raised",
			"a layout has %d files, and InnoDB keeps up to %d open (innodb_open_files) for all databases: it would close and open them while "+
				"measuring", most, n)
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
	detail := fmt.Sprintf("innodb_flush_log_at_trx_commit is %s, sync_binlog %s (binary log %s): durability %s", flush, sync,
		s.vars["log_bin"], is)
	if want := s.target.Durability; want != "" && want != is {
		e.Warn("durability", "have it set on the server, or give --durability "+string(is), "%s",
			detail+", instead of "+string(want)+"; it is a setting of the whole server, which Filewise does not change")
		return
	}
	e.OK("durability", "%s", detail)
	if why := s.product.External.SharedCommits; why != "" && is == filewise.DurabilityFull && !s.on("log_bin") {
		e.Warn("commits", "measure a server with a binary log (sync_binlog=1), or a managed one: --engine "+s.product.Name+", which has one",
			"%s", why)
	}
}

func (e *examination) memory() {
	pool := number64(e.server.vars, "innodb_buffer_pool_size")
	var size int64
	for _, l := range e.Demand.Layouts {
		size = max(size, l.Data.Bytes)
	}
	if pool > 0 && size > 0 && size < pool {
		e.Warn("memory", "use a --size of several times the buffer pool for statements about reading",
			"the data (%s) fits into the buffer pool (%s), which others use too: reads do not reach the storage, and the server decides when it "+
				"writes", humanize.IBytes(uint64(size)), humanize.IBytes(uint64(pool)))
	}
}

func (e *examination) logs() {
	s := e.server
	if s.on("general_log") {
		e.Warn("general log", "have it turned off while measuring", "general_log is on: the server writes every statement to it")
	}
	if s.on("slow_query_log") || s.on("log_slow_query") {
		if t, err := strconv.ParseFloat(s.vars["long_query_time"], 64); err == nil && t < 0.5 {
			e.Warn("slow query log", "have long_query_time raised while measuring",
				"the slow query log takes statements of %v s and more: calls of the workload are among them", t)
		}
	}
	if s.on("log_bin") {
		e.Note("binary log", "", "%s", "the server writes all changes to its binary log too (binlog_format "+s.vars["binlog_format"]+
			"), which takes space until it expires")
	}
}

func (e *examination) settling() {
	s := e.server
	if s.flushes() {
		e.OK("settling", "%s", s.settling())
		return
	}
	e.Warn("settling", s.grant([]string{s.product.External.FlushRight}, "*.*")+"; "+s.grant([]string{lockTables}, ours), "%s",
		s.settling()+". Some of the work's writes may come after the measured time, or never, as the database is dropped first")
}

package external

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/internal/filesystem"
)

// provider names services that put different storage under the server.
func (e *examination) provider() {
	s := e.server
	if v, ok := s.vars["aurora_version"]; ok {
		e.Fail("service", "use a server that keeps its own files", "%s",
			"this is Amazon Aurora "+v+": its storage has no files of InnoDB that a layout could spread")
		return
	}
	for _, hint := range []struct{ where, text, name string }{
		{s.vars["basedir"], "/rdsdbbin/", "Amazon RDS"}, {s.version, "-google", "Google Cloud SQL"},
		{s.vars["version_comment"], "Azure", "Azure Database"},
	} {
		if strings.Contains(hint.where, hint.text) {
			e.Note("service", "", "%s", "the server seems to be "+
				"one of "+hint.name+": all files lie on one volume of the service, whose limits (IOPS, burst credits) decide much")
		}
	}
}

// replication reports that changes made here are also written elsewhere.
func (e *examination) replication(ctx context.Context) {
	s := e.server
	if s.on("wsrep_on") {
		e.Warn("cluster", "measure on a separate server", "the server is a node of a Galera cluster of %s: every commit is certified by and "+
			"applied on all of them", e.status["wsrep_cluster_size"])
	}
	if s.vars["group_replication_group_name"] != "" {
		e.Warn("cluster", "measure on a separate server", "group replication is configured: every commit is certified by and applied on all "+
			"members")
	}
	replicas, sources := number64(e.status, "Slaves_connected"), int64(0)
	if s.rights.global["PROCESS"] {
		var dumps int64
		err := s.db.QueryRowContext(ctx, "SELECT COUNT(CASE WHEN COMMAND LIKE 'Binlog Dump%' THEN 1 END), COUNT(CASE WHEN USER = 'system "+
			"user' AND COMMAND IN ('Slave_SQL', 'Slave_IO', 'Connect', 'Query') THEN 1 END) FROM "+
			"information_schema.PROCESSLIST").Scan(&dumps, &sources)
		if err == nil {
			replicas = max(replicas, dumps)
		}
	}
	if s.on("log_bin") && replicas > 0 {
		e.Warn("replicas", "measure on a server without replicas. (sql_log_bin=0 needs a right, and measures commits without a binary log: "+
			"Filewise does not set it.)", "%d replicas are connected: all that the workload writes is sent to them and applied there", replicas)
	}
	if sources > 0 {
		e.Warn("replica", "measure on a server that is no replica",
			"the server applies another server's writes while it is measured, and a database that is created here exists here alone")
	}
}

// local reports whether the server runs on this host, and how that is known.
func (s *server) local() (is bool, why string) {
	host, err := os.Hostname()
	same := err == nil && strings.EqualFold(host, s.vars["hostname"])
	if s.config.Net == "unix" {
		if same {
			return true, "a Unix socket, and the server's host name is this host's"
		}
		return false, fmt.Sprintf("a Unix socket, but the server's host name is %s: it runs in a container", s.vars["hostname"])
	}
	name, _, _ := net.SplitHostPort(s.config.Addr)
	if !ofThisHost(name) {
		return false, "it is reached over the network"
	}
	if same {
		return true, "an address of this host, and the server's host name is this host's"
	}
	return false, fmt.Sprintf("an address of this host, but the server's host name is %s: a tunnel, or a container", s.vars["hostname"])
}

// ofThisHost reports whether a host name or address belongs to this host.
func ofThisHost(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip := net.ParseIP(name)
	if ip == nil {
		return false
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return ip.IsLoopback()
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return ip.IsLoopback()
}

func (e *examination) host() {
	is, why := e.server.local()
	if is {
		e.Note("host", "", "%s", "client and server are on the same host ("+why+"): Filewise takes CPU from the server that it measures")
		return
	}
	e.Note("host", "", "%s", "the server is on another host ("+why+"): calls of 50 to 200 ms keep the network's share small; CPU and "+
		"storage of the server are not seen")
}

// space checks free space. The server does not report what its volumes have free, but the file system does if the
// server is on this host.
func (e *examination) space() {
	s := e.server
	local, _ := s.local()
	for _, v := range s.target.Volumes {
		need := e.Demand.Space[v.Name]
		dir := v.Dir
		if dir == "" {
			dir = s.vars["datadir"]
		}
		check := "free space of " + v.Name
		free, err := filesystem.Free(dir)
		if !local || err != nil {
			e.Note(check, "check it on the server's host", "%s are needed in %s; the server does not report free space",
				humanize.IBytes(uint64(max(need, 0))), dir)
			continue
		}
		detail := fmt.Sprintf("%s of %s are needed in %s", humanize.IBytes(uint64(max(need, 0))), humanize.IBytes(uint64(free)), dir)
		if free < need {
			e.Fail(check, "use a smaller --size, or another directory of the server: --volume NAME=DIR", "%s", detail)
			continue
		}
		e.OK(check, "%s", detail)
	}
}

func (e *examination) activity(ctx context.Context) {
	gauges, err := e.server.Activity(ctx)
	if err != nil {
		e.Note("activity of others", filewise.RemedyOf(err), "%s", err.Error())
		return
	}
	active, sessions := gauges[0].Value, gauges[1].Value
	detail := fmt.Sprintf("%.0f other sessions, %.0f of them at work", sessions, active)
	if active > 0 {
		e.Warn("activity of others", "measure when the server is quiet, or give --abort-if a limit", "%s", detail)
		return
	}
	e.OK("activity of others", "%s", detail)
}

// measured checks whether another run is measuring now.
func (e *examination) measured(ctx context.Context) {
	var holder sql.NullInt64
	if err := e.server.db.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", measuring).Scan(&holder); err != nil {
		e.Note("measuring lock", "", "%s", e.server.explain(err).Error())
		return
	}
	switch {
	case !holder.Valid:
		e.OK("measuring lock", "no run measures on the server")
	case e.server.numbers.has(holder.Int64):
		e.OK("measuring lock", "this Filewise holds it")
	default:
		e.Warn("measuring lock", "wait for it", "%s", "another Filewise measures on the server: "+e.server.holder(ctx, measuring))
	}
}

// telling lists the settings that affect what is measured, with further ones that the server's owner decides.
var telling = append(dialect.Telling[:len(dialect.Telling):len(dialect.Telling)], "innodb_buffer_pool_size", "innodb_log_file_size",
	"innodb_redo_log_capacity", "innodb_file_per_table", "general_log", "slow_query_log", "max_connections", "innodb_open_files",
	"table_open_cache", "hostname", "datadir")

// Facts returns the server's settings and the settings of Filewise's sessions. Settings that this release lacks are
// absent.
func (s *server) Facts(ctx context.Context) ([]filewise.Fact, error) {
	vars, err := dialect.Pairs(ctx, s.db, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, err
	}
	facts := []filewise.Fact{{Name: "server", Value: s.target.Address.String()}}
	for _, name := range telling {
		if v, ok := vars[name]; ok {
			facts = append(facts, filewise.Fact{Name: name, Value: v})
		}
	}
	facts = append(facts, filewise.Fact{Name: "sql_mode (of Filewise's sessions)", Value: dialect.SQLMode})
	return append(facts, filewise.Fact{Name: "settling", Value: s.settling()}), nil
}

// settling describes how far a database is brought to rest.
func (s *server) settling() string {
	if s.flushes() {
		return "pages of Filewise's tables are written before and after measuring (FLUSH TABLES … FOR EXPORT); the server's checkpoints and " +
			"other pages are left to it"
	}
	return "left to the server's own page cleaner: the account has no right to FLUSH TABLES … FOR EXPORT"
}

// probes returns the probes for a build and for the whole server.
func (b *build) probes() []filewise.Probe {
	s := b.server
	all := append(dialect.Probes(b, s.product, b.name), filewise.ProbeOf(filewise.ProbeServerMemory, (&memory{build: b}).read))
	if s.uninstrumented != nil {
		return all
	}
	read := &dialect.Instruments{Host: b, User: s.config.User, File: func(path string) (string, filewise.Role, bool) {
		name := b.plain(path)
		return name, filewise.RoleData, strings.Contains(path, "/"+b.name+"/") && !strings.HasSuffix(path, "/"+markerTable+".ibd")
	}}
	return append(all, read.Probes()...)
}

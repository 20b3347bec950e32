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
	"filewise/internal/filesystem"
)

// provider names services that put another storage under the server.
func (e *examination) provider() {
	s := e.server
	if v, ok := s.vars["aurora_version"]; ok {
		e.failed("service", "this is Amazon Aurora "+v+": its storage has no files of InnoDB that a layout could spread", "use a server that keeps its own files")
		return
	}
	for _, hint := range []struct{ where, text, name string }{
		{s.vars["basedir"], "/rdsdbbin/", "Amazon RDS"}, {s.version, "-google", "Google Cloud SQL"}, {s.vars["version_comment"], "Azure", "Azure Database"},
	} {
		if strings.Contains(hint.where, hint.text) {
			e.note("service", "the server seems to be one of "+hint.name+": all files lie on one volume of the service, whose limits (IOPS, burst credits) decide much", "")
		}
	}
}

// replication: what is measured here is written elsewhere too.
func (e *examination) replication(ctx context.Context) {
	s := e.server
	if s.on("wsrep_on") {
		e.warn("cluster", fmt.Sprintf("the server is a node of a Galera cluster of %s: every commit is certified by and applied on all of them", e.status["wsrep_cluster_size"]), "measure on a server of its own")
	}
	if s.vars["group_replication_group_name"] != "" {
		e.warn("cluster", "group replication is configured: every commit is certified by and applied on all members", "measure on a server of its own")
	}
	replicas, sources := number64(e.status, "Slaves_connected"), int64(0)
	if s.rights.global["PROCESS"] {
		var dumps int64
		err := s.db.QueryRowContext(ctx, "SELECT COUNT(CASE WHEN COMMAND LIKE 'Binlog Dump%' THEN 1 END), COUNT(CASE WHEN USER = 'system user' AND COMMAND IN ('Slave_SQL', 'Slave_IO', 'Connect', 'Query') THEN 1 END) FROM information_schema.PROCESSLIST").Scan(&dumps, &sources)
		if err == nil {
			replicas = max(replicas, dumps)
		}
	}
	if s.on("log_bin") && replicas > 0 {
		e.warn("replicas", fmt.Sprintf("%d replicas are connected: all that the workload writes is sent to them and applied there", replicas),
			"measure on a server without replicas. (sql_log_bin=0 needs a right, and measures commits without a binary log: Filewise does not set it.)")
	}
	if sources > 0 {
		e.warn("replica", "the server applies another server's writes while it is measured, and a database that is created here exists here alone", "measure on a server that is no replica")
	}
}

// local tells whether the server runs on this host, and how that is known.
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

// ofThisHost tells whether a host name or address is one of this host's.
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
		e.note("host", "client and server are on the same host ("+why+"): Filewise takes CPU from the server that it measures", "")
		return
	}
	e.note("host", "the server is on another host ("+why+"): calls of 50 to 200 ms keep the network's share small; CPU and storage of the server are not seen", "")
}

// space: the server does not tell what its volumes have free; the file system
// does, where it is this host's.
func (e *examination) space() {
	s := e.server
	local, _ := s.local()
	for _, v := range s.target.Volumes {
		need := e.demand.Space[v.Name]
		dir := v.Dir
		if dir == "" {
			dir = s.vars["datadir"]
		}
		check := "free space of " + v.Name
		free, err := filesystem.Free(dir)
		if !local || err != nil {
			e.note(check, fmt.Sprintf("%s are needed in %s; the server does not tell what is free", humanize.IBytes(uint64(max(need, 0))), dir), "look on the server's host")
			continue
		}
		detail := fmt.Sprintf("%s of %s are needed in %s", humanize.IBytes(uint64(max(need, 0))), humanize.IBytes(uint64(free)), dir)
		if free < need {
			e.failed(check, detail, "use a smaller --size, or another directory of the server: --volume NAME=DIR")
			continue
		}
		e.ok(check, detail)
	}
}

func (e *examination) activity(ctx context.Context) {
	gauges, err := e.server.Activity(ctx)
	if err != nil {
		e.note("activity of others", err.Error(), filewise.RemedyOf(err))
		return
	}
	active, sessions := gauges[0].Value, gauges[1].Value
	detail := fmt.Sprintf("%.0f other sessions, %.0f of them at work", sessions, active)
	if active > 0 {
		e.warn("activity of others", detail, "measure when the server is quiet, or give --abort-if a limit")
		return
	}
	e.ok("activity of others", detail)
}

// measured: whether another run measures at this moment.
func (e *examination) measured(ctx context.Context) {
	var holder sql.NullInt64
	if err := e.server.db.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", measuring).Scan(&holder); err != nil {
		e.note("measuring lock", e.server.explain(err).Error(), "")
		return
	}
	switch {
	case !holder.Valid:
		e.ok("measuring lock", "nobody measures on the server")
	case e.server.own.has(holder.Int64):
		e.ok("measuring lock", "this Filewise holds it")
	default:
		e.warn("measuring lock", "another Filewise measures on the server: "+e.server.holder(ctx, measuring), "wait until it has ended")
	}
}

func (e *examination) leftovers(ctx context.Context) {
	left, err := e.server.Leftovers(ctx)
	if err != nil {
		e.note("leftovers", err.Error(), "")
		return
	}
	old := 0
	for _, l := range left {
		if l.Kept == "" {
			old++
		}
	}
	if old > 0 {
		e.note("leftovers", fmt.Sprintf("%d databases of earlier runs are on the server", old), "filewise clean --target "+e.server.target.Address.String())
	}
}

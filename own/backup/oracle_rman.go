// This file backs up a user's database with RMAN on the server's host. RMAN gets only commands that oracle_text.go renders.

package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"

	"filewise"
	"filewise/engine/userbackup"
	"filewise/internal/marker"
)

// rmanClient is RMAN, connected as SYSBACKUP.
type rmanClient struct {
	target  filewise.Target
	program string
	connect string // a CONNECT line, which contains the password
}

// newRMAN finds RMAN, and prepares how RMAN connects.
func newRMAN(t filewise.Target) (*rmanClient, error) {
	program, err := findRMAN(t.ServerBin)
	if err != nil {
		return nil, err
	}
	connect, err := rmanConnect(*t.Address)
	return &rmanClient{t, program, connect}, err
}

// findRMAN searches the user's directory, the Oracle home, and PATH.
func findRMAN(bin string) (string, error) {
	places := []string{filepath.Join(bin, "rman")}
	if bin == "" {
		places = []string{filepath.Join(os.Getenv("ORACLE_HOME"), "bin", "rman"), "rman"}
	}
	for _, p := range places {
		if path, err := osexec.LookPath(p); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", filewise.Errorf(filewise.CodePreflight, "run Filewise on the server's host, as the account of the Oracle software, with "+
		"ORACLE_HOME set or --server-bin $ORACLE_HOME/bin", "RMAN, which makes backups of Oracle, is not on this host: %w",
		filewise.ErrUnsupported)
}

// rmanConnect returns RMAN's CONNECT line for an address.
func rmanConnect(a filewise.Address) (string, error) {
	service, password := strings.Trim(a.Path, "/"), a.Password.Reveal()
	if len(a.Options) > 0 || a.Host == "" || service == "" || password == "" ||
		strings.ContainsAny(a.User+password+service+a.Host, "\"'@/ \t\r\n") {
		return "", filewise.Errorf(filewise.CodeUsage, "give oracle://USER@HOST:PORT/SERVICE without options, and a password without "+
			"quotes, spaces, @ and /",
			"RMAN connects by host, service and password alone: %w", filewise.ErrUnsupported)
	}
	port := a.Port
	if port == 0 {
		port = 1521
	}
	return fmt.Sprintf(`CONNECT TARGET "%s/%s@//%s:%d/%s AS SYSBACKUP";`, a.User, password, a.Host, port, service), nil
}

// run has RMAN execute lines. An error contains what RMAN printed.
func (c *rmanClient) run(ctx context.Context, dir string, lines []string) error {
	env := []string{"ORACLE_HOME=" + filepath.Dir(filepath.Dir(c.program)), "NLS_LANG=AMERICAN_AMERICA.AL32UTF8"}
	text := strings.Join(append(append([]string{c.connect}, lines...), "EXIT;"), "\n") + "\n"
	err := userbackup.Feed(ctx, c.target, dir, text, env, []string{c.program})
	said, unread := os.ReadFile(filepath.Join(dir, filepath.Base(c.program)+".log"))
	if _, stack, failed := bytes.Cut(said, []byte("RMAN-00569:")); failed { // the exit code does not cover lines that RMAN reads one by one
		err = errors.Join(err, fmt.Errorf("RMAN: %s", bytes.TrimSpace(stack)))
	}
	if err == nil && (unread != nil || !bytes.Contains(said, []byte("Recovery Manager complete."))) {
		err = errors.Join(errors.New("RMAN did not come to its end"), unread)
	}
	return filewise.HideIn(rmanExplain(err), c.target.Address.Hidden()...)
}

func rmanExplain(err error) error {
	if err == nil {
		return nil
	}
	for code, remedy := range map[string]string{
		"ORA-01031": "as SYS: GRANT SYSBACKUP TO the account", "ORA-01017": "as SYS: GRANT SYSBACKUP TO the account; and check its password",
		"RMAN-06149": "a database in NOARCHIVELOG cannot be backed up while it is open", "ORA-19504": "let the server's account write to the " +
			"directory of --volume", "ORA-27040": "let the server's account write to the directory of --volume",
	} {
		if strings.Contains(err.Error(), code) {
			return filewise.Errorf(filewise.CodePreflight, remedy, "%w", err)
		}
	}
	return err
}

// Try connects and does nothing else.
func (c *rmanClient) Try(ctx context.Context, dir string) error { return c.run(ctx, dir, nil) }

// Tool returns the tool that makes the backups of a layout.
func (c *rmanClient) Tool(l filewise.Layout) userbackup.Tool { return &rmanTool{client: c, layout: l} }

type rmanTool struct {
	client *rmanClient
	layout filewise.Layout
	tag    string // tag of the backup that RMAN has recorded; "" if none
}

// Dump makes a backup under one of Filewise's tags.
func (o *rmanTool) Dump(ctx context.Context, to string) error {
	if err := os.MkdirAll(to, 0o770); err != nil {
		return err
	}
	o.tag = strings.ToUpper(marker.NewName())
	// The server's processes write the backup.
	return o.client.run(ctx, filepath.Dir(to), rmanBackup(o.client.target, o.layout, userbackup.Real(to), o.tag))
}

// Read reads all blocks and stores none.
func (o *rmanTool) Read(ctx context.Context) error {
	return o.client.run(ctx, userbackup.Volume(o.client.target, o.layout).Dir, rmanValidate(o.client.target, o.layout))
}

// Fill reads the backup as a restore would, and checks each block. A real restore would overwrite the user's database.
func (o *rmanTool) Fill(ctx context.Context, from string) error {
	return o.client.run(ctx, filepath.Dir(from), rmanTried(o.layout, o.tag))
}

// Compare does nothing, because RMAN has compared the blocks' checksums.
func (*rmanTool) Compare(context.Context) error { return nil }

// Drop removes RMAN's record of the backup, whose files are removed. So no later restore of the user's looks for them,
// and no retention policy counts them.
func (o *rmanTool) Drop(ctx context.Context) error {
	if o.tag == "" {
		return nil
	}
	err := o.client.run(ctx, userbackup.Volume(o.client.target, o.layout).Dir, rmanForget(o.tag))
	if err == nil || strings.Contains(err.Error(), "RMAN-06168") { // a failed backup has left nothing
		o.tag = ""
		return nil
	}
	return fmt.Errorf("the records of backup %s stay: CHANGE BACKUP TAG '%s' UNCATALOG: %w", o.tag, o.tag, err)
}

package plan

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/host/machine"
)

// TargetOptions chooses what to measure: an engine, or a server by URL.
type TargetOptions struct {
	Engine       Opt[string]
	Target       Opt[string]
	PasswordFile Opt[string]
	NoPassword   Opt[bool]
}

// Table returns the rows of all these options. usual is the default engine; if it is empty, the default is the first.
func (o *TargetOptions) Table(usual string) []Option {
	return append([]Option{
		Row(&o.Engine, "engine", usual, "`engine` to test: embedded, or a server that Filewise starts").
			insteadOf("target"),
	}, o.ServerTable()...)
}

// ServerTable returns the rows of only the options for an external server.
func (o *TargetOptions) ServerTable() []Option {
	return []Option{
		Row(&o.Target, "target", "", "existing server: `URL` such as postgres://USER@HOST/DATABASE or sqlite:DIR").
			insteadOf("engine").unrepeated(),
		Row(&o.PasswordFile, "password-file", "", "`file` with the password for --target, or the URL of --from; -: standard input "+
			"(default FILEWISE_PASSWORD, or a prompt)").unrepeated(),
		Row(&o.NoPassword, "no-password", false, "the account has no password: do not ask").unrepeated(),
	}
}

// Chosen holds what the options choose.
type Chosen struct {
	Engine filewise.Engine
	About  filewise.Description
	Target filewise.Target  // its address has no secrets
	Secret filewise.Address // the address with the secrets in its URL
}

// Choose finds the engine and the mode. It touches nothing.
func (all Engines) Choose(o *TargetOptions) (Chosen, error) {
	if o.Target.Value == "" {
		if err := o.Idle(); err != nil {
			return Chosen{}, err
		}
		if o.Engine.Value == "" && !o.Engine.Given() {
			return all.byName(all[0].Name())
		}
		return all.byName(o.Engine.Value)
	}
	preferred := ""
	if o.Engine.Given() {
		preferred = o.Engine.Value
	}
	e, address, dir, err := all.ParseTarget(o.Target.Value, preferred)
	if err != nil {
		return Chosen{}, err
	}
	if o.Engine.Given() && o.Engine.Value != e.Name() {
		if _, err := all.Lookup(o.Engine.Value); err != nil {
			return Chosen{}, err
		}
		return Chosen{}, filewise.Errorf(filewise.CodeUsage, "leave one of them out",
			"--engine %s and --target contradict each other: its URL is one of %s", o.Engine.Value, e.Name())
	}
	c := Chosen{Engine: e, About: e.Describe()}
	c.Target = filewise.Target{Engine: e.Name(), Mode: c.About.Mode}
	if dir != "" {
		c.Target.Volumes = []filewise.Volume{{Name: "here", Dir: dir}}
		return c, o.Idle()
	}
	shown := WithoutSecrets(*address)
	c.Target.Mode, c.Target.Address, c.Secret = filewise.External, &shown, *address
	return c, nil
}

// byName returns an engine that Filewise runs itself.
func (all Engines) byName(name string) (Chosen, error) {
	e, err := all.Lookup(name)
	if err != nil {
		return Chosen{}, err
	}
	c := Chosen{Engine: e, About: e.Describe()}
	switch c.About.Mode {
	case filewise.External:
		return Chosen{}, filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("give an existing server: --target %s://USER@HOST/…",
			c.About.Schemes[0]),
			"Filewise cannot start a managed server of %s", e.Name())
	case filewise.Managed:
		if err := machine.ManagedServers(); err != nil {
			return Chosen{}, err
		}
	}
	c.Target = filewise.Target{Engine: e.Name(), Mode: c.About.Mode}
	return c, nil
}

// WithoutSecrets returns an address in the form that is shown and stored.
func WithoutSecrets(a filewise.Address) filewise.Address {
	a.Password, a.Secrets = "", nil
	return a
}

// Idle refuses options for an external server if there is none. A variable set for other commands is no mistake.
func (o *TargetOptions) Idle() error {
	for _, row := range o.ServerTable()[1:] {
		if s := row.To.Source(); s == Given || s == File {
			return filewise.Errorf(filewise.CodeUsage, "it is for a server: give its --target URL, or leave it out", "%s: not possible here",
				written(row.Name, row.value()))
		}
	}
	return nil
}

// Again returns the flags that choose the same server again, without secrets.
func (o *TargetOptions) Again(t filewise.Target) []string {
	return append([]string{"--target", t.Address.String()}, o.signIn()...)
}

// signIn returns the flags that say where the password comes from.
func (o *TargetOptions) signIn() (out []string) {
	path := o.PasswordFile.Value
	switch {
	case o.NoPassword.Value:
		out = append(out, "--no-password")
	case path != "" && path != "-" && !strings.HasPrefix(path, "/dev/"):
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		out = append(out, "--password-file", path)
	}
	return out
}

// PlaceOptions holds the places of files, and the server's settings.
type PlaceOptions struct {
	ServerBin  Opt[string]
	Settings   Opt[[]Pair]
	Durability Opt[string]
	Memory     Opt[string]
	Cores      Opt[int]
	Volumes    Opt[[]Pair]
	Allow      Opt[[]string]
}

// Table returns the rows of these options.
func (o *PlaceOptions) Table() []Option {
	return append([]Option{
		Row(&o.ServerBin, "server-bin", "", "`directory` of a managed server's programs, or with --database of backup programs (default: "+
			"searched)"),
		o.SetRow("`key=value` setting of a managed server (repeatable)"),
		Row(&o.Durability, "durability", string(filewise.DurabilityFull), "`level` of durability at commit: full, normal or off").
			oneOf(string(filewise.DurabilityFull), string(filewise.DurabilityNormal), string(filewise.DurabilityOff)),
		Row(&o.Memory, "memory", "", "limit a managed server, with its file cache, to this many `bytes` (cgroup)"),
		Row(&o.Cores, "cores", 0, "bind a managed server to this `number` of cores, by NUMA node (Linux; default all)").
			between(1, 4096),
		o.AllowRow(),
	}, o.VolumeRow("`NAME=DIR` for files, as the server of --target sees it (repeatable; default here=., or the server's own)"))
}

// VolumeRow returns the row of the volumes, with another usage text for commands that use volumes otherwise.
func (o *PlaceOptions) VolumeRow(usage string) Option {
	return Row(&o.Volumes, "volume", nil, usage).unrepeated()
}

// SetRow returns the row of the server's settings.
func (o *PlaceOptions) SetRow(usage string) Option { return Row(&o.Settings, "set", nil, usage) }

// AllowRow returns the row of the consequences that the user accepts.
func (o *PlaceOptions) AllowRow() Option {
	return Row(&o.Allow, "allow", nil, "accept a `consequence` that doctor and plan otherwise refuse (repeatable)")
}

// setTarget comes first, since most other steps depend on the engine.
func (m *maker) setTarget() (err error) {
	o := m.o
	target := o.TargetOptions
	if m.fromServer() && target.Target.Value == "" { // the password is the origin server's
		target.PasswordFile, target.NoPassword = Opt[string]{}, Opt[bool]{}
	}
	if m.Chosen, err = m.engines.Choose(&target); err != nil {
		return err
	}
	m.plan.Target = m.Target
	if usual := m.About.Budget; usual > 0 && !o.Budget.Given() {
		m.plan.Budget = usual
	}
	if m.sc.Budget > m.plan.Budget && !o.Budget.Given() {
		m.plan.Budget = m.sc.Budget
	}
	switch bin := o.ServerBin.Value; {
	case bin != "" && m.Target.Mode == filewise.Embedded:
		return badUse("server-bin", bin, m.Target.Engine+" runs inside Filewise: leave it out")
	case bin != "" && m.Target.Mode == filewise.External && o.Database.Value == "":
		return badUse("server-bin", bin, "the server of --target runs already: leave it out")
	}
	if err := m.setDatabase(); err != nil {
		return err
	}
	m.plan.Target.ServerBin = o.ServerBin.Value
	for _, name := range o.Allow.Value {
		if m.Target.Mode != filewise.External || !slices.Contains(m.About.Consents, name) {
			return badUse("allow", name, "leave it out: "+m.Target.Engine+" asks for no such consent here")
		}
		m.plan.Target.Allowed = append(m.plan.Target.Allowed, name)
	}
	m.plan.Target.Durability = filewise.Durability(o.Durability.Value)
	return m.setSettings()
}

// setLimits sets the limits of a server that Filewise starts.
func (m *maker) setLimits() (err error) {
	memory, cores := m.o.Memory.Value, m.o.Cores
	const managed = "it is for servers that Filewise starts: leave it out"
	switch {
	case cores.Given() && m.Target.Mode != filewise.Managed:
		return badUse("cores", strconv.Itoa(cores.Value), managed)
	case memory != "" && m.Target.Mode != filewise.Managed:
		return badUse("memory", memory, managed)
	}
	m.plan.Target.Cores = cores.Value
	if memory == "" {
		return nil
	}
	if m.plan.Target.Memory, err = bytesOf("memory", memory); err == nil && m.plan.Target.Memory < m.About.LeastMemory {
		err = OutOfRange("memory", memory, fmt.Sprintf("%s does not work in less than %s", m.Target.Engine,
			humanize.IBytes(uint64(m.About.LeastMemory))))
	}
	return err
}

func (m *maker) setSettings() error {
	for _, s := range m.o.Settings.Value {
		if s.Bare || s.Name == "" {
			return BadValue("set", fmt.Sprintf("%q", s), "give it as key=value")
		}
		if secretSetting(s.Name) {
			return BadValue("set", s.Name, "settings are stored with the run and shown in reports: a secret does not belong there, "+
				"and a managed server needs none; leave it out")
		}
		if m.plan.Target.Settings == nil {
			m.plan.Target.Settings = make(map[string]string)
		}
		m.plan.Target.Settings[s.Name] = s.Value
	}
	return nil
}

// secretSetting reports whether a setting's value is a secret, judging by engines' names: report_password,
// wsrep_sst_auth, primary_conninfo.
func secretSetting(key string) bool {
	key = strings.ToLower(strings.ReplaceAll(key, "-", "_"))
	return slices.ContainsFunc([]string{"password", "passwd", "passphrase", "secret", "_auth", "conninfo"},
		func(end string) bool { return strings.HasSuffix(key, end) })
}

// kind reads a kind of layout. If users look for it on the engine and it is not offered, the error gives the reason.
func (c Chosen) kind(name, value string) (filewise.Kind, error) {
	if why := c.About.NoKinds[filewise.Kind(value)]; why != "" {
		return "", filewise.Unsupported("bring the partitioned table as your own workload: filewise init custom --engine "+c.Target.Engine,
			"--%s %s: %s", name, value, why)
	}
	return Choice(name, value, c.Kinds()...)
}

// Kinds returns the engine's kinds, the usual one on this target first. It includes kinds that only a managed server
// can have: for these, the engine explains why the target cannot.
func (c Chosen) Kinds() []filewise.Kind {
	if c.Target.Mode != filewise.External {
		return c.About.Kinds
	}
	all := slices.Clone(c.About.ExternalKinds)
	for _, k := range c.About.Kinds {
		if !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all
}

package managed

import (
	"regexp"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/server"
	"filewise/internal/filesystem"
)

// unknownSetting matches a server's message about an option that it does not have or cannot accept. Examples are
// "unknown variable 'x=1'", "unknown option '--x'", "Error while setting value 'y' to 'x'". For other messages, see
// blamed.
var unknownSetting = regexp.MustCompile(`(?i)unknown (?:variable|option) '-*([\w-]+)|` +
	`setting value '[^']*' to '([\w-]+)'|(?:option|variable) '([\w-]+)'?`)

// explain adds to an error what the user can do about it.
func (i *instance) explain(err error) error {
	if err == nil {
		return nil
	}
	const freeSpace = "free space on the volume, or name another with --volume NAME=DIR"
	if name := i.blamed(err.Error()); name != "" {
		return refused(i.design.Product, i.install, i.design.Target, name, err)
	}
	if number, ok := dialect.Number(err); ok {
		switch number {
		case dialect.ErrTableFull:
			if d := i.design.fullVolume(); d != "" {
				return filewise.Errorf(filewise.CodeTrials, freeSpace, "%s has no space left: %w: %w", d, filewise.ErrSpace, err)
			}
			return filewise.Errorf(filewise.CodeTrials, "make --work smaller, or --size larger",
				"InnoDB's data files cannot grow, though their volumes have space: %w", err)
		case dialect.ErrDiskFull:
			return filewise.Errorf(filewise.CodeTrials, freeSpace, "%w: %w", filewise.ErrSpace, err)
		case dialect.ErrTooMany:
			return filewise.Errorf(filewise.CodeTrials, "leave --set max_connections out", "%w: %w", filewise.ErrConnections, err)
		}
	}
	if filesystem.Full(err) || strings.Contains(err.Error(), "No space left on device") || strings.Contains(err.Error(), "Error number 28") {
		return filewise.Errorf(filewise.CodeTrials, freeSpace, "%w: %w", filewise.ErrSpace, err)
	}
	return err
}

// fullBytes is the free space below which a volume counts as full. InnoDB enlarges a file by up to 8 MiB at a time.
const fullBytes = 8 * dialect.MiB

// fullVolume returns the directory of a volume that is full, or "" if none is.
func (d *design) fullVolume() string {
	for _, v := range d.Target.Volumes {
		if free, err := filesystem.Free(v.Dir); err == nil && free < fullBytes {
			return v.Dir
		}
	}
	return ""
}

// refused returns an error that names the user's setting with which a server does not start.
func refused(p *dialect.Product, in dialect.Install, t filewise.Target, name string, err error) error {
	return filewise.Errorf(filewise.CodeUsage, "leave --set "+name+" out, or correct it",
		"%s %s does not start with --set %s=%s: %w", p.Title, in.Version, name, t.Settings[name], err)
}

// blamed returns the user's setting that a message complains about, or "" if there is none.
func (i *instance) blamed(message string) string {
	for _, m := range unknownSetting.FindAllStringSubmatch(message, -1) {
		for _, found := range m[1:] {
			for name := range i.design.Target.Settings {
				if found != "" && canonical(found) == canonical(name) {
					return name
				}
			}
		}
	}
	return ""
}

// why adds the server's death to an error of talking to it, unless the error is the server's own answer.
func (i *instance) why(p *server.Process, err error) error {
	if _, answered := dialect.Number(err); err != nil && !answered {
		err = p.Why(err)
	}
	return i.explain(err)
}

// failed names the failed step in an error.
var failed = server.Failed

package fleet

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"filewise"
	"filewise/internal/filesystem"
)

// quotedValue matches the text of a file that an error quotes.
var quotedValue = regexp.MustCompile(`but found "(.*)" instead`)

const fileVariable = "TEMPORAL_CONFIG_FILE"

// settings returns the values of TEMPORAL_… in the environment, and of temporal.toml.
func settings() (o client.Options, err error) {
	// Values that the library passes over would leave TLS off unnoticed.
	for _, name := range []string{"TEMPORAL_TLS", "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION"} {
		if value := os.Getenv(name); value != "" && !slices.Contains([]string{"1", "0", "true", "false"}, strings.ToLower(value)) {
			return o, filewise.Errorf(filewise.CodeUsage, "give true or false", "%s=%q: neither true nor false", name, value)
		}
	}
	if file := os.Getenv(fileVariable); file != "" {
		if _, err := os.Stat(file); err != nil {
			return o, filewise.Errorf(filewise.CodeUsage, "name a file that you may read", "%s: %w", fileVariable, err)
		}
	}
	p, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{})
	if err == nil {
		if err := exposed(p); err != nil {
			return o, err
		}
		o, err = p.ToClientOptions(envconfig.ToClientOptionsRequest{})
	}
	if err == nil {
		return o, nil
	}
	if found := quotedValue.FindStringSubmatch(err.Error()); found != nil {
		err = filewise.HideIn(err, filewise.Secret(found[1])) // it may be a key without quotes
	}
	return o, filewise.Errorf(filewise.CodeUsage, "correct TEMPORAL_… in the environment, or temporal.toml", "settings of Temporal: %w", err)
}

// exposed returns an error if a file with a secret can be read by everybody.
func exposed(p envconfig.ClientConfigProfile) error {
	var files []string
	secret := p.APIKey != os.Getenv("TEMPORAL_API_KEY")
	if p.TLS != nil {
		secret = secret || string(p.TLS.ClientKeyData) != os.Getenv("TEMPORAL_TLS_CLIENT_KEY_DATA")
		if p.TLS.ClientKeyPath != "" {
			files = append(files, p.TLS.ClientKeyPath)
		}
	}
	if usual, err := envconfig.DefaultConfigFilePath(); secret && err == nil {
		files = append(files, cmp.Or(os.Getenv(fileVariable), usual))
	}
	for _, file := range files {
		f, err := filesystem.OpenSecret(file)
		if err != nil {
			return filewise.Errorf(filewise.CodeUsage, filesystem.SecretRemedy(file, err), "settings of Temporal: %w", err)
		}
		_ = f.Close() // only the file's mode was checked
	}
	return nil
}

package store

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"filewise"
	"filewise/experiment"
)

// schemaTypes are types whose values in JSON do not follow from their kind.
var schemaTypes = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
	reflect.TypeFor[filewise.Secret](): {Type: "string"},
	reflect.TypeFor[[]byte]():          {Types: []string{"null", "string"}, ContentEncoding: "base64"},
	reflect.TypeFor[State]():           oneOf(Running, Done, Interrupted, Failed),
	reflect.TypeFor[filewise.State]():  oneOf(filewise.Done, filewise.Failed),
	reflect.TypeFor[filewise.Mode]():   oneOf(filewise.Embedded, filewise.Managed, filewise.External),
	reflect.TypeFor[experiment.Ending](): oneOf(experiment.Decided, experiment.Futile, experiment.Spent,
		experiment.Broken),
}

func oneOf[T any](values ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}

// ExportJSONSchema writes the JSON Schema (draft 2020-12) of what ExportJSON writes.
// It is made of the very types, so that it cannot be another.
func ExportJSONSchema(w io.Writer) error {
	root, err := jsonschema.For[exported](&jsonschema.ForOptions{TypeSchemas: schemaTypes})
	if err != nil {
		return fmt.Errorf("schema of exports: %w", err)
	}
	var format, version any = ExportFormat, ExportSchema
	root.Properties["format"], root.Properties["schema"] = &jsonschema.Schema{Const: &format}, &jsonschema.Schema{Const: &version}
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "A run of Filewise, as filewise export --format json writes it"
	root.Description = "Every field is described in store/EXPORT.md. Names that end in _ns are nanoseconds."
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(root)
}

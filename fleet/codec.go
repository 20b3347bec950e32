package fleet

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"filewise"
	"filewise/internal/filesystem"
)

// The variables with the keys that encrypt everything sent through Temporal, or with a file of such keys. A file has
// one key a line, each of 32 bytes in base64. The first key encrypts.
const (
	KeyVariable     = "FILEWISE_CAMPAIGN_KEY"
	KeyFileVariable = "FILEWISE_CAMPAIGN_KEY_FILE"
)

// encrypt makes a client encrypt what it sends and decrypt what it receives, if there is a key.
func encrypt(o *client.Options) error {
	text, from := os.Getenv(KeyVariable), KeyVariable
	if file := os.Getenv(KeyFileVariable); text == "" && file != "" {
		f, err := filesystem.OpenSecret(file)
		if err != nil {
			return filewise.Errorf(filewise.CodeUsage, filesystem.SecretRemedy(file, err), "%s: %w", KeyFileVariable, err)
		}
		read, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return filewise.Errorf(filewise.CodeUsage, "name another file", "%s: %w", KeyFileVariable, err)
		}
		text, from = string(read), file
	}
	if text == "" && os.Getenv(KeyFileVariable) == "" {
		return nil
	}
	c := codec{}
	for _, line := range strings.Fields(text) {
		key, err := base64.StdEncoding.DecodeString(line)
		if err == nil && len(key) != 32 {
			err = errors.New("it does not have 32 bytes")
		}
		if err != nil {
			return filewise.Errorf(filewise.CodeUsage, "make one: openssl rand -base64 32", "the key in %s is none: %w", from, err)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return err
		}
		sealed, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(key)
		c = append(c, sealer{hex.EncodeToString(sum[:4]), sealed})
	}
	if len(c) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "make one: openssl rand -base64 32", "there is no key in %s", from)
	}
	o.DataConverter = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c)
	o.FailureConverter = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: o.DataConverter,
		EncodeCommonAttributes: true})
	return nil
}

// codec encrypts with the first of its keys, of which it has at least one. It implements converter.PayloadCodec.
type codec []sealer

// sealer is a key, with the text that distinguishes it from others.
type sealer struct {
	id string
	cipher.AEAD
}

var errKey = errors.New("another key than here")

const (
	encrypted = "binary/encrypted"
	metaKey   = "filewise-key"
)

// Encode implements converter.PayloadCodec.
func (c codec) Encode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		text, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encrypted), metaKey: []byte(c[0].id)},
			Data: c[0].Seal(nil, nil, text, nil)}
	}
	return out, nil
}

// Decode implements converter.PayloadCodec. It refuses what is not encrypted: no one without a key has anything to
// request.
func (c codec) Decode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		err := fmt.Errorf("%w: it is not encrypted", errKey)
		if id := string(p.GetMetadata()[metaKey]); string(p.GetMetadata()[converter.MetadataEncoding]) == encrypted {
			err = fmt.Errorf("%w: it is encrypted with %s", errKey, id)
			for _, s := range c {
				if s.id != id {
					continue
				}
				var text []byte
				if text, err = s.Open(nil, nil, p.GetData(), nil); err == nil {
					out[i] = &commonpb.Payload{}
					err = proto.Unmarshal(text, out[i])
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

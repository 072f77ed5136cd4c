// The object store of the local runtime: versitygw's gateway over a folder, without the command
// line, the other backends and their libraries. Built inside the source of versitygw.
//
// Arguments: address to listen on, region, health path, folder of buckets, folder of versions, and
// optionally the URL that receives events. The keys are taken from the environment, because every
// user of the machine can read arguments.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/s3api"
	"github.com/versity/versitygw/s3api/middlewares"
	"github.com/versity/versitygw/s3api/utils"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3event"
	"github.com/versity/versitygw/s3response"
)

// The defaults of versitygw's command.
const (
	connections     = 250_000
	requests        = 100_000
	parts           = 10_000
	actions         = 5_000
	bufferBytes     = 1 << 20
	largestCopyable = 5 << 30
)

func main() {
	if len(os.Args) < 6 {
		log.Fatal("arguments: address, region, health path, buckets, versions [, webhook]")
	}
	address, region, health := os.Args[1], os.Args[2], os.Args[3]
	buckets, versions := os.Args[4], os.Args[5]
	webhook := ""
	if len(os.Args) > 6 {
		webhook = os.Args[6]
	}
	if err := (meta.XattrMeta{}).Test(buckets); err != nil {
		log.Fatalf("the file system has no extended attributes: %v", err)
	}
	options := posix.PosixOpts{
		VersioningDir:       versions,
		Concurrency:         actions,
		IOBufferSize:        bufferBytes,
		CopyObjectThreshold: largestCopyable,
	}
	options.SetNewDirPerm(0o755)
	options.SetNewFilePerm(0o644)
	store, err := posix.New(buckets, meta.XattrMeta{}, options)
	if err != nil {
		log.Fatal(err)
	}
	running, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var events s3event.S3EventSender
	if webhook != "" {
		if events, err = s3event.InitWebhookEventSender(webhook, nil); err != nil {
			log.Fatal(err)
		}
	}
	root := middlewares.RootUserConfig{
		Access: os.Getenv("ROOT_ACCESS_KEY"), Secret: os.Getenv("ROOT_SECRET_KEY"),
	}
	iam := auth.NewIAMServiceSingle(auth.Account{
		Access: root.Access, Secret: root.Secret, Role: auth.RoleAdmin,
	})
	utils.SetBucketNameValidationStrict(true)
	server, err := s3api.New(
		wholeBodies{store}, root, region, iam, nil, nil, events, nil,
		s3api.WithConcurrencyLimiter(connections, requests),
		s3api.WithMpMaxParts(parts),
		s3api.WithQuiet(),
		s3api.WithHealth(health),
		s3api.WithKeepAlive(),
	)
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.ServeMultiPort([]string{address}) }()
	select {
	case err = <-ended:
		log.Fatal(err)
	case <-running.Done():
	}
	if err = server.ShutDown(); err != nil {
		log.Print(err)
	}
	store.Shutdown()
}

// wholeBodies refuses a body that ends before its declared length, as S3 does. versitygw stores
// what has arrived, a part with zeros for the rest.
type wholeBodies struct{ *posix.Posix }

func (store wholeBodies) PutObject(
	ctx context.Context, input s3response.PutObjectInput,
) (s3response.PutObjectOutput, error) {
	input.Body = whole(input.Body, input.ContentLength)
	return store.Posix.PutObject(ctx, input)
}

func (store wholeBodies) UploadPart(
	ctx context.Context, input *s3.UploadPartInput,
) (*s3.UploadPartOutput, error) {
	input.Body = whole(input.Body, input.ContentLength)
	return store.Posix.UploadPart(ctx, input)
}

func whole(body io.Reader, length *int64) io.Reader {
	_, chunked := body.(middlewares.ChecksumReader) // checks its length itself
	if body == nil || length == nil || chunked {
		return body
	}
	return &wholeBody{body, *length}
}

type wholeBody struct {
	io.Reader
	missing int64
}

func (body *wholeBody) Read(into []byte) (int, error) {
	read, err := body.Reader.Read(into)
	body.missing -= int64(read)
	if err == io.EOF && body.missing > 0 {
		err = s3err.GetAPIError(s3err.ErrIncompleteBody)
	}
	return read, err
}

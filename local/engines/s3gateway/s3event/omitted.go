// Receivers of events other than a webhook: their files, and with them libraries of Kafka, NATS and
// RabbitMQ, are removed before the build (`s3.py`). s3event.InitEventSender still names them, and
// every event has a sequence number, which a removed file counts.
package s3event

import (
	"errors"
	"fmt"
)

var (
	errOmitted = errors.New("receivers other than a webhook are not part of this program")
	sequencer  int // changed only by SendEvent of the webhook, which holds a lock
)

func genSequencer() string {
	sequencer++
	return fmt.Sprintf("%X", sequencer)
}

func InitKafkaEventService(_, _, _ string, _ EventFilter) (S3EventSender, error) {
	return nil, errOmitted
}

func InitNatsEventService(_, _ string, _ EventFilter) (S3EventSender, error) {
	return nil, errOmitted
}

func InitRabbitmqEventService(_, _, _ string, _ EventFilter) (S3EventSender, error) {
	return nil, errOmitted
}

package inlay

import (
	"errors"
	"io"

	"inlay.dev/inlay/raw"
)

// Logger is what messages can be given to; *slog.Logger of log/slog is one.
type Logger interface {
	Debug(message string, arguments ...any)
	Info(message string, arguments ...any)
	Warn(message string, arguments ...any)
	Error(message string, arguments ...any)
}

// logAll gives all messages that next finds to a logger.
func logAll(logger Logger, next func() (LogLevel, string, bool)) {
	for {
		level, text, ok := next()
		if !ok {
			return
		}
		switch level {
		case LogError:
			logger.Error(text)
		case LogWarning:
			logger.Warn(text)
		case LogInfo:
			logger.Info(text)
		default:
			logger.Debug(text)
		}
	}
}

// LogMessage is one message of an engine or a conversion.
type LogMessage struct {
	// Number counts the messages from 1.
	Number uint64   `json:"number"`
	Level  LogLevel `json:"level"`
	Text   string   `json:"text"`
}

// LogReader reads an engine's messages. One goroutine at a time may use it.
type LogReader struct {
	engine *Engine
	cursor uint64
}

// Logs reads the engine's latest messages from the oldest that it still has.
func (e *Engine) Logs() *LogReader { return &LogReader{engine: e} }

// Next is the next message. It returns io.EOF if there is none yet; a later call may find one.
func (l *LogReader) Next() (LogMessage, error) {
	handle, err := l.engine.join("logs")
	if err != nil {
		return LogMessage{}, err
	}
	defer l.engine.leave()
	message, cursor := LogMessage{}, l.cursor
	message.Text, err = readText("logs", 256, func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
		return raw.LogRead(handle, &cursor, &message.Level, buf, size, needed, err)
	})
	if errors.Is(err, StatusNotFound) {
		return LogMessage{}, io.EOF
	}
	if err != nil {
		return LogMessage{}, err
	}
	l.cursor, message.Number = cursor, cursor
	return message, nil
}

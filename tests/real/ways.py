"""The ways to run pieces of text through an engine. Each gives (piece, position, row of logits) for positions whose logits the interface
shows; a row lies in memory that the next one overwrites."""
import itertools

from inlay_library import Session, force

# Lengths of the parts of a prompt that goes on a sequence, over and over.
PARTS = (5, 16, 33, 9, 64, 2, 17, 8, 40, 3)


def token_by_token(engine, pieces):
    """Decode steps of one sequence."""
    for which, piece in enumerate(pieces):
        with Session(engine) as session:
            session.prefill(piece[:1])
            for position, following in enumerate([*piece[1:], 0]):
                force([session], [following])
                yield which, position, session.copy_logits()


def in_prompts(engine, pieces):
    """Prompts: the whole piece and its half at once, and the piece in parts of 2 to 64 tokens."""
    for which, piece in enumerate(pieces):
        for length in (len(piece), len(piece) // 2 + which):
            with Session(engine) as session:
                session.prefill(piece[:length])
                yield which, length - 1, session.copy_logits()
        with Session(engine) as session:
            begin = 0
            for part in itertools.cycle(PARTS[which:] + PARTS[:which]):
                session.prefill(piece[begin:begin + part])
                begin = min(begin + part, len(piece))
                yield which, begin - 1, session.copy_logits()
                if begin == len(piece):
                    break


def in_batches(engine, pieces):
    """Decode steps of all pieces together."""
    sessions = [Session(engine) for _ in pieces]
    for session, piece in zip(sessions, pieces):
        session.prefill(piece[:1])
    for position in range(len(pieces[0])):
        force(sessions, [piece[position + 1] if position + 1 < len(piece) else 0 for piece in pieces])
        for which, session in enumerate(sessions):
            yield which, position, session.copy_logits()
    for session in sessions:
        session.close()


WAYS = {"token by token": token_by_token, "in prompts": in_prompts, "in batches": in_batches}

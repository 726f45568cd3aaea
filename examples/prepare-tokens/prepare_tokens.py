#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Text to the token files of `dttrain --data FOLDER`, train.bin and val.bin, with a tokenizer of Hugging Face's.

A file *.jsonl has a document a line, {"text": "..."}; any other file is a document. Tokens have 16 bits, or 32 if the
tokenizer has more than 65536, little-endian, after a header of llm.c. `bytes` as tokenizer needs no package: each byte is a
token. `--decode FILE` prints the text of such a file."""
import argparse
import array
import itertools
import json
import os
import sys

HEADER = 256  # of llm.c: so many numbers of 32 bits, of which three are used
KINDS = {"H": (20240520, 1), "I": (20240801, 7)}  # magic and version, by what array calls 16 and 32 bits
ENDS = ("<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>")
LONGEST = 2**31 - 1  # tokens that the header can count


class Bytes:
    name, vocabulary, end = "bytes", 256, None

    def encode(self, documents):
        return [list(document.encode()) for document in documents]

    def decode(self, ids):
        return bytes(ids).decode(errors="replace")


class HuggingFace:
    def __init__(self, path, end):
        try:
            import tokenizers
        except ImportError:
            sys.exit("error: no package tokenizers here (pip install tokenizers)")
        file = os.path.join(path, "tokenizer.json") if os.path.isdir(path) else path
        if not os.path.isfile(file):
            sys.exit(f"error: no {file}\n  help: AutoTokenizer.from_pretrained(...).save_pretrained(FOLDER) writes one")
        self.tokenizer, self.name = tokenizers.Tokenizer.from_file(file), file
        self.vocabulary = max(self.tokenizer.get_vocab().values()) + 1
        self.end = next((e for e in ([end] if end else ENDS) if self.tokenizer.token_to_id(e) is not None), None)
        if end and not self.end:
            sys.exit(f"error: {file} has no token {end}")

    def encode(self, documents):
        last = [] if self.end is None else [self.tokenizer.token_to_id(self.end)]
        return [found.ids + last for found in self.tokenizer.encode_batch(documents, add_special_tokens=False)]

    def decode(self, ids):
        return self.tokenizer.decode(ids, skip_special_tokens=False)


def documents_of(paths):
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            if path.endswith(".jsonl"):
                for number, line in enumerate(file, 1):
                    try:
                        yield json.loads(line)["text"]
                    except (ValueError, KeyError, TypeError) as error:
                        sys.exit(f'error: {path}:{number} is not {{"text": "..."}}: {error!r}')
            else:
                yield file.read()


def little_endian(values):
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def write(path, code, count, pieces):
    """A token file, complete or absent; `pieces` are bytes."""
    header = [*KINDS[code], count] if count <= LONGEST else []
    with open(path + ".new", "wb") as file:
        if header:
            file.write(little_endian(array.array("i", header + [0] * (HEADER - len(header)))))
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)
    if not header:
        print(f"note: {path} is too long for a header: dttrain --token-format uint{'16' if code == 'H' else '32'}")


def encode_to(path, tokenizer, paths, code):
    """Writes all tokens to `path`, without a header; how many documents, characters and tokens there are."""
    documents = characters = count = 0
    source = documents_of(paths)
    with open(path, "wb") as file:
        while batch := list(itertools.islice(source, 1000)):
            for ids in tokenizer.encode(batch):
                file.write(little_endian(array.array(code, ids)))
                count += len(ids)
            documents += len(batch)
            characters += sum(map(len, batch))
    return documents, characters, count


def part(path, begin, end):
    with open(path, "rb") as file:
        file.seek(begin)
        while begin < end and (piece := file.read(min(end - begin, 1 << 20))):
            begin += len(piece)
            yield piece


def prepare(args, tokenizer):
    code = "I" if tokenizer.vocabulary > 65536 else "H"
    width = 4 if code == "I" else 2
    os.makedirs(args.output, exist_ok=True)
    spare = os.path.join(args.output, "all.new")
    documents, characters, count = encode_to(spare, tokenizer, args.files, code)
    kept = int(count * args.validation)
    print(f"{tokenizer.name}: {tokenizer.vocabulary} tokens, {8 * width} bits each; end of a document: {tokenizer.end or 'not marked'}")
    print(f"{documents} documents, {characters} characters, {count} tokens: {characters / max(1, count):.2f} characters a token")
    for name, begin, end in [("train.bin", 0, count - kept), ("val.bin", count - kept, count)]:
        path = os.path.join(args.output, name)
        if begin < end:
            write(path, code, end - begin, part(spare, begin * width, end * width))
            print(f"{path}: {end - begin} tokens")
        elif os.path.exists(path):
            os.remove(path)  # of an earlier call: it would be evaluated with
    os.remove(spare)
    print(f"try: dttrain --model gpt2,vocab_size={tokenizer.vocabulary},... --data {args.output if kept else os.path.join(args.output, 'train.bin')}")


def decode(path, tokenizer):
    with open(path, "rb") as file:
        content = file.read()
    first = array.array("i", content[:HEADER * 4])
    code = next((c for c, kind in KINDS.items() if tuple(first[:2]) == kind), None)
    if code is None:
        sys.exit(f"error: {path} has no header of llm.c")
    ids = array.array(code, content[HEADER * 4:])
    if sys.byteorder == "big":
        ids.byteswap()
    sys.stdout.write(tokenizer.decode(ids.tolist()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--tokenizer", required=True, help="a model's folder, its tokenizer.json, or `bytes`")
    parser.add_argument("--output", default="tokens", metavar="FOLDER", help="[tokens]")
    parser.add_argument("--validation", type=float, default=0.1, metavar="SHARE", help="of all tokens, the last ones: val.bin [0.1]")
    parser.add_argument("--end", metavar="TOKEN", help="after each document [the tokenizer's own, of " + ", ".join(ENDS) + "]")
    parser.add_argument("--decode", metavar="FILE", help="print the text of a token file")
    args = parser.parse_args()
    tokenizer = Bytes() if args.tokenizer == "bytes" else HuggingFace(args.tokenizer, args.end)
    if args.decode:
        decode(args.decode, tokenizer)
    elif args.files and 0 <= args.validation < 1:
        prepare(args, tokenizer)
    else:
        parser.error("no FILE" if not args.files else "--validation is a share of 1")


if __name__ == "__main__":
    main()

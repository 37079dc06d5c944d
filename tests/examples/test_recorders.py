"""The recorders for Java and Go: the programs of docs/for-builders.md, and clients that are many at once and fail."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from missing import skip_without

from tidemark.cli import tidemark

ROOT = Path(__file__).parents[2]
RECORDERS = ROOT / "examples/recorders"
PAGE = (ROOT / "docs/for-builders.md").read_text(encoding="utf-8")
HARD = 'a "quoted"\n\\ word, ☃ and 😀 \x01'
LITERAL = json.dumps(HARD, ensure_ascii=False)
"""As Java and Go have it, too."""
JAVA = """
import java.nio.file.Path;
import java.util.*;

public class Many {
    static final List<Integer> LOG = new ArrayList<>();

    public static void main(String[] none) throws Exception {
        try (var history = new TidemarkHistory(Path.of("history.jsonl"))) {
            List<Thread> clients = new ArrayList<>();
            for (int client = 0; client < 4; client++) {
                int id = client;
                clients.add(new Thread(() -> {
                    for (int i = 0; i < 50; i++) {
                        int record = id * 50 + i;
                        try (var send = history.operation("p" + id, "send", List.of(List.of("send", "t-0", record)))) {
                            synchronized (LOG) {
                                LOG.add(record);
                                send.ok(List.of(List.of("send", "t-0", List.of(LOG.size() - 1, record))));
                            }
                        }
                    }
                }));
            }
            for (Thread one : clients) one.start();
            for (Thread one : clients) one.join();
            Object lost = List.of(Arrays.asList("send", "t-0", 1000));
            try (var send = history.operation("p4", "send", lost)) { send.fail(HARD); }
            try (var send = history.operation("p5", "send", List.of(List.of("send", "t-0", 1001)))) { }
            for (int at = 0; at <= LOG.size(); at++) {
                try (var poll = history.finalRead("c1", "poll", List.of(List.of("poll", Map.of())))) {
                    Map<String, Object> read = at < LOG.size() ? Map.of("t-0", List.of(List.of(at, LOG.get(at)))) : Map.of();
                    poll.ok(List.of(List.of("poll", read)));
                }
            }
        }
    }
}
"""
GO = """
package main

import (
	"errors"
	"example/tidemark"
	"fmt"
	"sync"
)

type list = [][]any

func main() {
	history, _ := tidemark.Create("history.jsonl")
	log, mutex, clients := []int{}, sync.Mutex{}, sync.WaitGroup{}
	for id := 0; id < 4; id++ {
		clients.Add(1)
		go func(id int) {
			defer clients.Done()
			for record := id * 50; record < id*50+50; record++ {
				send := history.Operation(fmt.Sprint("p", id), "send", list{{"send", "t-0", record}})
				mutex.Lock()
				log = append(log, record)
				send.Ok(list{{"send", "t-0", []int{len(log) - 1, record}}})
				mutex.Unlock()
			}
		}(id)
	}
	clients.Wait()
	history.Operation("p4", "send", list{{"send", "t-0", 1000}}).Fail(errors.New(HARD))
	history.Operation("p5", "send", list{{"send", "t-0", 1001}}).End()
	for at := 0; at <= len(log); at++ {
		read := map[string][][]int{}
		if at < len(log) {
			read["t-0"] = [][]int{{at, log[at]}}
		}
		history.FinalRead("c1", "poll", list{{"poll", map[string]any{}}}).Ok(list{{"poll", read}})
	}
	if err := history.Close(); err != nil {
		panic(err)
	}
}
"""


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def checked(path, *more):
    told = CliRunner().invoke(tidemark, ["check", str(path), *more], standalone_mode=False, catch_exceptions=False)
    return told.return_value, told.stdout


def run(*words, folder):
    if shutil.which(words[0]) is None:
        skip_without(
            {"go": "Go: install a toolchain", "javac": "a Java compiler: install a JDK, 11 or newer"}[words[0]]
        )
    offline = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local"}
    subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True, env=os.environ | offline)


def java(folder, name, text):
    (folder / f"{name}.java").write_text(text.replace("HARD", LITERAL), encoding="utf-8")
    shutil.copy(RECORDERS / "TidemarkHistory.java", folder)
    run(
        "javac",
        "-Xlint:all,-try",
        "-Werror",
        "-encoding",
        "UTF-8",
        *(file.name for file in folder.glob("*.java")),
        folder=folder,
    )
    run("java", name, folder=folder)


def go(folder, _, text):
    is_test = "testing.T" in text
    (folder / ("log_test.go" if is_test else "main.go")).write_text(text.replace("HARD", LITERAL), encoding="utf-8")
    (folder / "tidemark").mkdir()
    shutil.copy(RECORDERS / "tidemark.go", folder / "tidemark")
    run("go", "mod", "init", "example", folder=folder)
    run("go", "vet", "./...", folder=folder)
    run("go", "test" if is_test else "run", ".", folder=folder)


@pytest.mark.systems
@pytest.mark.parametrize(("program", "text"), [(java, JAVA), (go, GO)], ids=["java", "go"])
def test_many_clients_at_once_that_fail_and_give_up(tmp_path, program, text):
    program(tmp_path, "Many", text)
    lines = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["type"] for line in lines].count("ok") == 200 + 201
    assert [(line["process"], line["error"]) for line in lines if "error" in line] == [
        ("p4", HARD),
        ("p5", "nobody said how it went"),
    ]
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)
    assert sum(line.get("final", False) for line in lines) == 2 * 201
    assert checked(tmp_path / "history.jsonl")[0] == 0


def test_the_page_s_java_comes_to_what_the_page_says(tmp_path):
    java(tmp_path, "TestRegister", blocks("java")[0])
    code, told = checked(tmp_path / "history.jsonl", "--model", "register", "--initial", "0")
    assert code == 1
    assert told.splitlines()[1] in PAGE


@pytest.mark.systems
def test_the_page_s_go_comes_to_what_the_page_says(tmp_path):
    go(tmp_path, "", blocks("go")[0])
    code, told = checked(tmp_path / "history.jsonl")
    assert code == 1
    assert "violation lost-write: Record 2 of orders-0 at offset 1 (acknowledged to p1" in told


@pytest.mark.systems
def test_the_page_s_go_judges_itself_if_it_is_told_to(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    recorder, judge = blocks("go")
    (line,) = re.findall(r"`(t\.Cleanup[^`]*)`", PAGE)
    (tmp_path / "judge_test.go").write_text(judge, encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        go(tmp_path, "", recorder.replace("\tdefer history.Close()", f"\t{line}\n\tdefer history.Close()"))
    assert failed.value.cmd[:2] == ("go", "test")
    assert "violation lost-write: Record 2 of orders-0 at offset 1 (acknowledged to p1" in failed.value.stdout

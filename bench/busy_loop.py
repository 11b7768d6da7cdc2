"""What the benches of the simulator's speed share: a program that is busy as often as asked, and one measured run."""
import json
import os
import subprocess

LOOP = """module @busy {{
  func.func public @main(%n: tensor<i32>, %x: tensor<{type}>, %w: tensor<{weights}>) -> tensor<{type}> {{
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %r:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<{type}>
     cond {{
      %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    }} do {{
      %next = stablehlo.add %i, %one : tensor<i32>
{body}
      stablehlo.return %next, %b : tensor<i32>, tensor<{type}>
    }}
    return %r#1 : tensor<{type}>
  }}
}}
"""


def busy_program(body, kind, weights):
    """StableHLO text: %b = `body` of %a and the arguments %x (`kind`) and %w (`weights`), as often as %n says."""
    return LOOP.format(body=body, type=kind, weights=weights)


def simulate(sublane, arguments):
    """(document, CPU seconds, peak MiB) of one `sublane simulate`."""
    child = subprocess.Popen([sublane, "simulate", *map(str, arguments), "--json"], stdout=subprocess.PIPE, text=True)
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"sublane simulate {arguments[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return json.loads(text), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

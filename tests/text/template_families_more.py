"""The second half of template_families.py."""

MORE = {}

MORE["gpt-oss"] = """
{%- macro render_type(spec, required_params, is_nullable=false) -%}
    {%- if spec.type == "array" -%}
        {%- if spec['items'] -%}
            {%- set inner = render_type(spec['items'], required_params) -%}
            {%- if inner|length > 50 -%}{{- "any[]" -}}{%- else -%}{{- inner + "[]" -}}{%- endif -%}
        {%- else -%}{{- "any[]" }}{%- endif -%}
        {%- if spec.nullable -%}{{- " | null" -}}{%- endif -%}
    {%- elif spec.type is defined and spec.type is iterable and spec.type is not string and spec.type is not mapping and spec.type[0] is defined -%}
        {%- if spec.type | length > 1 -%}{{- spec.type | join(" | ") }}{%- else -%}{{- spec.type[0] }}{%- endif -%}
    {%- elif spec.oneOf -%}
        {%- for variant in spec.oneOf -%}{{- render_type(variant, required_params) -}}{%- if variant.description %}{{- "// " + variant.description }}{%- endif -%}{%- if not loop.last %}{{- " | " }}{% endif -%}{%- endfor -%}
    {%- elif spec.type == "string" -%}
        {%- if spec.enum -%}{{- '"' + spec.enum|join('" | "') + '"' -}}{%- else -%}{{- "string" }}{%- if spec.nullable %}{{- " | null" }}{%- endif -%}{%- endif -%}
    {%- elif spec.type in ("number", "integer") -%}{{- "number" }}
    {%- elif spec.type == "boolean" -%}{{- "boolean" }}
    {%- elif spec.type == "object" -%}
        {%- if spec.properties -%}
            {{- "{\\n" }}
            {%- for prop_name, prop in spec.properties.items() -%}
                {{- prop_name -}}{%- if prop_name not in (spec.required or []) -%}{{- "?" }}{%- endif -%}
                {{- ": " }}{{ render_type(prop, spec.required or []) }}{%- if not loop.last -%}{{-", " }}{%- endif -%}
            {%- endfor -%}
            {{- "}" }}
        {%- else -%}{{- "object" }}{%- endif -%}
    {%- else -%}{{- "any" }}{%- endif -%}
{%- endmacro -%}
{%- macro render_tools(namespace_name, tools) -%}
    {{- "## " + namespace_name + "\\n\\n" }}{{- "namespace " + namespace_name + " {\\n\\n" }}
    {%- for tool in tools %}
        {%- set tool = tool.function %}
        {{- "// " ~ tool.description + "\\n" }}{{- "type "+ tool.name + " = " }}
        {%- if tool.parameters and tool.parameters.properties %}
            {{- "(_: {\\n" }}
            {%- for name, param in tool.parameters.properties.items() %}
                {%- if param.description %}{{- "// " + param.description + "\\n" }}{%- endif %}
                {{- name }}{%- if name not in (tool.parameters.required or []) -%}{{- "?" }}{%- endif -%}{{- ": " }}{{- render_type(param, tool.parameters.required or []) }}
                {%- if param.default is defined -%}
                    {%- if param.enum %}{{- ", // default: " + param.default }}{%- else %}{{- ", // default: " + param.default|tojson }}{%- endif -%}
                {%- endif -%}
                {{- ",\\n" }}
            {%- endfor %}
            {{- "}) => any;\\n\\n" }}
        {%- else -%}{{- "() => any;\\n\\n" }}{%- endif -%}
    {%- endfor %}
    {{- "} // namespace " + namespace_name }}
{%- endmacro -%}
{%- macro build_system_message() -%}
    {%- if model_identity is not defined %}{%- set model_identity = "You are a model." %}{%- endif %}
    {{- model_identity + "\\n" }}{{- "Current date: " + strftime_now("%Y-%m-%d") + "\\n\\n" }}
    {%- if reasoning_effort is not defined %}{%- set reasoning_effort = "medium" %}{%- endif %}
    {{- "Reasoning: " + reasoning_effort + "\\n\\n" }}{{- "# Valid channels: analysis, commentary, final." }}
{%- endmacro -%}
{{- "<|start|>system<|message|>" }}{{- build_system_message() }}{{- "<|end|>" }}
{%- if tools -%}{{- "<|start|>developer<|message|>" }}{{- render_tools("functions", tools) }}{{- "<|end|>" }}{%- endif -%}
{%- set last_tool_call = namespace(name=none) %}
{%- for message in messages -%}
    {%- if message.role == 'assistant' -%}
        {%- if "content" in message and message.content is string %}{%- if "<|channel|>analysis" in message.content %}{{- raise_exception("put thoughts into 'thinking'") }}{%- endif %}{%- endif %}
        {%- if "tool_calls" in message %}
            {%- set tool_call = message.tool_calls[0] %}{%- if tool_call.function %}{%- set tool_call = tool_call.function %}{%- endif %}
            {{- "<|start|>assistant to=functions." + tool_call.name + "<|channel|>commentary json<|message|>" }}{{- tool_call.arguments|tojson }}{{- "<|call|>" }}
            {%- set last_tool_call.name = tool_call.name %}
        {%- elif loop.last and not add_generation_prompt %}
            {%- if "reasoning_content" in message %}{{- "<|start|>assistant<|channel|>analysis<|message|>" + message.reasoning_content + "<|end|>" }}{%- endif %}
            {{- "<|start|>assistant<|channel|>final<|message|>" ~ message.content ~ "<|return|>" }}
        {%- else %}{{- "<|start|>assistant<|channel|>final<|message|>" ~ message.content ~ "<|end|>" }}{%- set last_tool_call.name = none %}{%- endif %}
    {%- elif message.role == 'tool' -%}
        {%- if last_tool_call.name is none %}{{- raise_exception("a tool message without a call") }}{%- endif %}
        {{- "<|start|>functions." + last_tool_call.name }}{{- " to=assistant<|channel|>commentary<|message|>" + message.content|tojson + "<|end|>" }}
    {%- else -%}{{- "<|start|>" + message.role + "<|message|>" ~ message.content ~ "<|end|>" }}{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|start|>assistant{%- endif -%}
"""

MORE["granite"] = """
{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content'] %}{%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set system_message = "Knowledge: April 2024.\\nToday: " + strftime_now('%B %d, %Y') + "." %}
    {%- if tools and documents %}{%- set system_message = system_message + " Tools and documents." %}{%- elif tools %}{%- set system_message = system_message + " Tools." %}{%- elif thinking %}{%- set system_message = system_message + " Think." %}{%- endif %}
    {%- if 'citations' in (controls or {}) and documents %}{%- set system_message = system_message + ' Cite.' %}{%- endif %}
    {%- set loop_messages = messages %}
{%- endif %}
{{- '<|role|>system<|/role|>' ~ system_message + '<|eot|>\\n' }}
{%- if tools %}{{- '<|role|>tools<|/role|>' }}{{- tools | tojson(indent=4) }}{{- '<|eot|>\\n' }}{%- endif %}
{%- for message in loop_messages %}
    {{- '<|role|>' + message['role'] + '<|/role|>' ~ message['content'] ~ '<|eot|>\\n' }}
    {%- if loop.last and add_generation_prompt %}{{- '<|role|>assistant' }}{%- if controls %}{{- ' ' + controls | tojson()}}{%- endif %}{{- '<|/role|>' }}{%- endif %}
{%- endfor %}
"""

MORE["glm4"] = """[gMASK]<sop>
{%- macro visible_text(content) -%}
    {%- if content is string -%}{{- content }}
    {%- elif content is iterable and content is not mapping -%}
        {%- for item in content -%}{%- if item is mapping and item.type == 'text' -%}{{- item.text }}{%- elif item is string -%}{{- item }}{%- endif -%}{%- endfor -%}
    {%- else -%}{{- content }}{%- endif -%}
{%- endmacro -%}
{%- if tools -%}
<|system|>
# Tools
<tools>
{% for tool in tools %}
{{ tool | tojson(ensure_ascii=False) }}
{% endfor %}
</tools>
{%- endif -%}
{%- set ns = namespace(last_user_index=-1) %}
{%- for m in messages %}{%- if m.role == 'user' %}{% set ns.last_user_index = loop.index0 -%}{%- endif %}{%- endfor %}
{% for m in messages %}
{%- if m.role == 'user' -%}<|user|>
{{ visible_text(m.content) }}
{{- '/nothink' if (enable_thinking is defined and not enable_thinking and not visible_text(m.content).endswith("/nothink")) else '' -}}
{%- elif m.role == 'assistant' -%}
<|assistant|>
{%- set reasoning_content = '' %}
{%- set content = visible_text(m.content) %}
{%- if m.reasoning_content is string %}{%- set reasoning_content = m.reasoning_content %}
{%- elif '</think>' in content %}{%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}{%- set content = content.split('</think>')[-1].lstrip('\\n') %}{%- endif %}
{%- if loop.index0 > ns.last_user_index and reasoning_content -%}{{ '\\n<think>' + reasoning_content.strip() + '</think>'}}{%- else -%}{{ '\\n<think></think>' }}{%- endif -%}
{%- if content.strip() -%}{{ '\\n' + content.strip() }}{%- endif -%}
{% if m.tool_calls %}
{% for tc in m.tool_calls %}
{%- if tc.function %}{%- set tc = tc.function %}{%- endif %}
{{ '\\n<tool_call>' + tc.name }}
{% set _args = tc.arguments %}
{% if _args is mapping %}{% for k, v in _args.items() %}
<arg_key>{{ k }}</arg_key>
<arg_value>{{ v | tojson(ensure_ascii=False) if v is not string else v }}</arg_value>
{% endfor %}{% endif %}
</tool_call>{% endfor %}
{% endif %}
{%- elif m.role == 'tool' -%}
{%- if m.content is string -%}
{%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}{{- '<|observation|>' }}{%- endif %}
{{- '\\n<tool_response>\\n' }}{{- m.content }}{{- '\\n</tool_response>' }}
{%- else -%}<|observation|>{% for tr in m.content %}
<tool_response>{{ tr.output if tr.output is defined else tr }}</tool_response>{% endfor -%}{% endif -%}
{%- elif m.role == 'system' -%}<|system|>
{{ visible_text(m.content) }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|assistant|>{{- '\\n<think></think>' if (enable_thinking is defined and not enable_thinking) else '' -}}{%- endif -%}
"""

MORE["kimi-k2"] = """
{%- macro render_content(msg) -%}
    {%- set c = msg.get('content') -%}
    {%- if c is string -%}{{ c }}
    {%- elif c is not none -%}
        {% for content in c -%}{% if content['type'] == 'image' or 'image' in content or 'image_url' in content -%}<|media|>image<|/media|>{% else -%}{{ content['text'] }}{%- endif -%}{%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
{%- if tools -%}<|im_system|>tool_declare<|im_middle|>{{ tools | tojson(separators=(',', ':')) }}<|im_end|>{%- endif -%}
{%- for message in messages -%}
    {%- if loop.first and messages[0]['role'] != 'system' -%}<|im_system|>system<|im_middle|>You are helpful.<|im_end|>{%- endif -%}
    {%- set role_name = message.get('name') or message['role'] -%}
    {%- if message['role'] == 'user' -%}<|im_user|>{{role_name}}<|im_middle|>{%- elif message['role'] == 'assistant' -%}<|im_assistant|>{{role_name}}<|im_middle|>{%- else -%}<|im_system|>{{role_name}}<|im_middle|>{%- endif -%}
    {%- if message['role'] == 'assistant' and message.get('tool_calls') -%}
        {{ render_content(message) }}<|calls|>{%- for tool_call in message['tool_calls'] -%}{%- set func_name = tool_call['function']['name'] -%}{%- set formatted_id = tool_call['id'] if tool_call['id'] else 'functions.' + func_name + ':' + loop.index0|string -%}<|call|>{{ formatted_id }}<|args|>{% if tool_call['function']['arguments'] is string %}{{ tool_call['function']['arguments'] }}{% else %}{{ tool_call['function']['arguments'] | tojson }}{% endif %}<|/call|>{%- endfor -%}<|/calls|>
    {%- elif message['role'] == 'tool' -%}## Return of {{ message.tool_call_id }}\\n{{ render_content(message) }}
    {%- elif message['content'] is not none -%}{{ render_content(message) }}{%- endif -%}
    <|im_end|>
{%- endfor -%}
{%- if add_generation_prompt -%}<|im_assistant|>assistant<|im_middle|>{%- endif -%}
"""

MORE["minimax"] = """
{%- set toolcall_begin = '<calls>' -%}{%- set toolcall_end = '</calls>' -%}
{%- macro render_tool_namespace(name, list) -%}{%- for tool in list -%}<tool>{{ tool.function | tojson(ensure_ascii=False) }}</tool>
{% endfor -%}{%- endmacro -%}
{%- macro build_system_message(system_message) -%}
    {%- if system_message and system_message.content -%}{{- system_message.content }}{%- else -%}{%- if model_identity is not defined -%}{%- set model_identity = "You are helpful." -%}{%- endif -%}{{- model_identity }}{%- endif -%}
    {%- if system_message and system_message.current_date -%}{{- '\\n' ~ 'Current date: ' + system_message.current_date }}{%- endif -%}
{%- endmacro -%}
{%- set system_message = none -%}{%- set conversation_messages = messages -%}
{%- if messages and messages[0].role == "system" -%}{%- set system_message = messages[0] -%}{%- set conversation_messages = messages[1:] -%}{%- endif -%}
{{- ']~!b[' ~ ']~b]system' ~ '\\n' }}{{- build_system_message(system_message) }}
{%- if tools -%}{{- '\\n\\n# Tools\\n<tools>\\n' }}{{- render_tool_namespace("functions", tools) }}{{- '</tools>' }}{%- endif -%}
{{- '[e~[\\n' }}
{%- set last_tool_call = namespace(name=none) -%}
{%- for message in conversation_messages -%}
    {%- if message.role == 'assistant' -%}
        {{- ']~b]ai' ~ '\\n' }}{{- message.content or '' }}
        {%- if message.tool_calls -%}
            {{- toolcall_begin ~ '\\n' }}
            {%- for tool_call in message.tool_calls -%}
                {{- '<invoke name="' + tool_call.function.name + '">' }}
                {%- set _args = tool_call.function.arguments -%}
                {%- if _args is mapping %}{%- for k, v in _args.items() %}{{- '<parameter name="' + k + '">' }}{{- v | tojson(ensure_ascii=False) if v is not string else v }}{{- '</parameter>' }}{% endfor %}{% endif %}
                {{- '</invoke>' ~ '\\n' }}
            {%- endfor -%}
            {{- toolcall_end}}
            {%- set last_tool_call.name = message.tool_calls[-1].function.name -%}
        {%- else -%}{%- set last_tool_call.name = none -%}{%- endif -%}
        {{- '[e~[' ~ '\\n' }}
    {%- elif message.role == 'tool' -%}
        {%- if last_tool_call.name is none -%}{{- raise_exception("no tool was called") }}{%- endif -%}
        {%- if loop.first or (conversation_messages[loop.index0 - 1].role != 'tool') -%}{{- ']~b]tool' }}{%- endif -%}
        {{- '\\n<response>' ~ message.content ~ '</response>' }}
        {%- if loop.last or (conversation_messages[loop.index0 + 1].role != 'tool') -%}{{- '[e~[\\n' -}}{%- endif -%}
    {%- elif message.role == 'user' -%}{{- ']~b]user' ~ '\\n' }}{{- message.content }}{{- '[e~[' ~ '\\n' }}{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- ']~b]ai' ~ '\\n' ~ '<think>' ~ '\\n' }}{%- endif -%}
"""

MORE["hermes"] = """
{%- macro json_to_python_type(json_spec) %}
{%- set basic_type_map = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"} %}
{%- if basic_type_map[json_spec.type] is defined %}{{- basic_type_map[json_spec.type] }}
{%- elif json_spec.type == "array" %}{{- "list[" + json_to_python_type(json_spec['items'] or {}) + "]"}}
{%- elif json_spec.type == "object" %}
    {%- if json_spec.additionalProperties is defined %}{{- "dict[str, " + json_to_python_type(json_spec.additionalProperties) + ']'}}{%- else %}{{- "dict" }}{%- endif %}
{%- elif json_spec.type is iterable %}{{- "Union[" }}{%- for t in json_spec.type %}{{- json_to_python_type({"type": t}) }}{%- if not loop.last %}{{- "," }}{%- endif %}{%- endfor %}{{- "]" }}
{%- else %}{{- "Any" }}{%- endif %}
{%- endmacro %}
{{- bos_token }}{{- "<|im_start|>system\\nTools: <tools> " }}
{%- for tool in tools or [] %}
    {%- if tool.function is defined %}{%- set tool = tool.function %}{%- endif %}
    {{- '{"type": "function", "function": {"name": "' + tool.name + '", "description": "' + tool.name + '(' }}
    {%- for param_name, param_fields in tool.parameters.properties|items %}{{- param_name + ": " + json_to_python_type(param_fields) }}{%- if not loop.last %}{{- ", " }}{%- endif %}{%- endfor %}
    {{- ")" }}{%- if tool.return is defined %}{{- " -> " + json_to_python_type(tool.return) }}{%- endif %}
    {{- " - " ~ tool.description ~ "\\n\\n" }}
    {%- for param_name, param_fields in tool.parameters.properties|items %}
        {%- if loop.first %}{{- "    Args:\\n" }}{%- endif %}
        {{- "        " + param_name + "(" + json_to_python_type(param_fields) + "): " ~ param_fields.description|trim }}
    {%- endfor %}
    {{- '"' }}{%- if tool.parameters.properties|length == 0 %}{{- ', "parameters": {}}' }}{%- else %}{{- ', "parameters": ' + (tool.parameters|tojson) + '}' }}{%- endif %}{%- if not loop.last %}{{- "\\n" }}{%- endif %}
{%- endfor %}
{{- " </tools><|im_end|>\\n" }}
{%- for message in messages %}
    {%- if message.role == "tool" %}
        {%- if loop.previtem and loop.previtem.role != "tool" %}{{- "<|im_start|>tool\\n" }}{%- endif %}
        {{- "<tool_response>\\n" }}{{- message.content }}{%- if not loop.last %}{{- "\\n</tool_response>\\n" }}{%- else %}{{- "\\n</tool_response>" }}{%- endif %}
        {%- if not loop.last and loop.nextitem.role != "tool" %}{{- '<|im_end|>' }}{%- elif loop.last %}{{- '<|im_end|>' }}{%- endif %}
    {%- else %}{{- '<|im_start|>' + message.role + '\\n' ~ message.content ~ '<|im_end|>' + '\\n' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""

MORE["nemotron"] = """
{%- set bos = "<|begin|>" -%}{%- set enable_thinking = enable_thinking|default(true) -%}
{%- set roles = {'system': 'SYS', 'user': 'USR', 'assistant': 'AST', 'tool': 'OBS'} -%}
{{- bos -}}
{%- for message in messages -%}
{%- set content = message.content if message.content is string else message.content|map(attribute='text', default='?')|join('+') if message.content else '' -%}
{{- '[' ~ roles.get(message.role, message.role|upper) ~ ']' -}}
{%- if message.role == 'assistant' -%}{%- generation -%}{{- content.split('</think>')|last|trim }}{{ eos_token -}}{%- endgeneration -%}
{%- else -%}{{- content|trim -}}{%- endif -%}
{{- '\\n' -}}
{%- endfor -%}
{{- '%s thinks: %s, %d messages of %5.1f%%' % ('It', enable_thinking, messages|length, 100) -}}
{%- if add_generation_prompt -%}{{- '[AST]' ~ ('<think>' if enable_thinking else '<think></think>') -}}{%- endif -%}
"""

MORE["smollm3"] = """
{# --- defaults --- #}
{%- if enable_thinking is not defined -%}{%- set enable_thinking = true -%}{%- endif -%}
{%- set reasoning_mode = "/think" if enable_thinking else "/no_think" -%}
{{- "<|im_start|>system\\n" -}}
{%- if messages and messages[0].role == "system" and messages[0].content is string -%}
  {%- set system_message = messages[0].content -%}
  {%- if "/no_think" in system_message -%}{%- set reasoning_mode = "/no_think" -%}{%- elif "/think" in system_message -%}{%- set reasoning_mode = "/think" -%}{%- endif -%}
  {%- set custom_instructions = system_message.replace("/no_think", "").replace("/think", "").rstrip() -%}
{%- endif -%}
{{- "## Metadata\\nToday Date: " ~ strftime_now("%d %B %Y") ~ "\\nMode: " + reasoning_mode + "\\n\\n" -}}
{%- if custom_instructions -%}{{- custom_instructions + "\\n\\n" -}}{%- endif -%}
{%- if xml_tools or python_tools or tools -%}
  {%- set ns = namespace(xml_tool_string="<tools>\\n") -%}
  {%- for tool in tools[:] -%}{%- set ns.xml_tool_string = ns.xml_tool_string ~ (tool | string) ~ "\\n" -%}{%- endfor -%}
  {{- ns.xml_tool_string + "</tools>" -}}
{%- endif -%}
{{- "<|im_end|>\\n" -}}
{%- for message in messages -%}
    {%- if message.role == "user" -%}{{ "<|im_start|>" + message.role + "\\n" ~ message.content ~ "<|im_end|>\\n" }}
    {%- elif message.role == "assistant" -%}
        {% generation %}
        {%- if reasoning_mode == "/think" -%}{{ "<|im_start|>assistant\\n" ~ message.content ~ "<|im_end|>\\n" }}{%- else -%}{{ "<|im_start|>assistant\\n" + "<think>\\n\\n</think>\\n" ~ message.content ~ "<|im_end|>\\n" }}{%- endif -%}
        {% endgeneration %}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ "<|im_start|>assistant\\n" }}{%- endif -%}
"""

MORE["olmo"] = """{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}{{ '<|system|>\\n' + message['content'] + '\\n' }}{% elif message['role'] == 'assistant' %}{% if not loop.last %}{{ '<|assistant|>\\n' ~ message['content'] ~ eos_token + '\\n' }}{% else %}{{ '<|assistant|>\\n' ~ message['content'] ~ eos_token }}{% endif %}{% else %}{{ '<|' ~ message.role ~ '|>\\n' ~ message['content'] ~ '\\n' }}{% endif %}{% if loop.last and add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}{% endfor %}
"""

MORE["internlm"] = """
{%- set sep = joiner('\\n---\\n') -%}{%- set row = cycler('odd', 'even') -%}
{% for m in messages recursive %}{{ sep() }}{{ loop.depth }}.{{ loop.index }} {{ row.next() }} {{ m.role }}{{ ' (again)' if not loop.changed(m.role) }}: {{ m.content if m.content is string else m.content|length if m.content else '-' }}{% if m.children %}{{ loop(m.children) }}{% endif %}{% else %}nothing{% endfor %}
"""

MORE["falcon"] = """
{%- macro turn(role, end='<|end|>') -%}<|{{ role }}|>{{ caller() if caller else '' }}{{ end }}{%- endmacro -%}
{%- for m in messages -%}
{%- if m.role == 'tool' -%}{%- continue -%}{%- endif -%}
{%- if loop.index > 6 -%}{{ '...' }}{%- break -%}{%- endif -%}
{%- call turn(m.role, end='<|' ~ m.role[0] ~ '/>' if m.name is defined else '<|end|>') -%}{{ m.content }}{%- endcall -%}
{%- endfor -%}
{%- set tail %}  [{{ messages | length }} turns, {{ (messages | length) // 2 }} pairs, {{ (messages|length) / 2 }}, {{ 7 % 3 }}, {{ 2 ** 10 }}]
{% endset -%}
{{ tail | trim | upper }}{{ turn('assistant', '') if add_generation_prompt }}
"""

MORE["ernie"] = """
{%- with sys = messages|selectattr('role', 'eq', 'system')|map(attribute='content')|first|default('none', true), rest = messages|rejectattr('role', 'eq', 'system')|list -%}
<s>{{ sys }}{% filter upper %} [{{ rest|length }}] {% endfilter %}
{% for role, group in rest|groupby('role') %}{{ role }}={{ group|length }};{% endfor %}
{% for m in rest %}{{ loop.revindex }}/{{ loop.length }}{{ loop.cycle(' a', ' b', ' c') }}: {{ m.content|string|truncate(20, true) }}
{% endfor %}
{%- endwith %}
{% raw %}{{ not a tag }}{% endraw %} {#- nor this -#} {{ sys is defined }}
"""

MORE["exaone"] = """
{%- for message in messages -%}
  {%+ if loop.first %}[first] {% endif +%}
    {{- message.role.title() ~ ' ' ~ message.role.upper() ~ ' ' ~ message.role.capitalize() }}
  {%- for part in (message.content.split('\\n') if message.content is string else []) %} |{{ part.strip() }}|{{ part.find('e') }}|{{ part.count('e') }}|{{ part[:3] }}|{{ part[-3:] }}|{{ part[::-1]|e }}{%- endfor %}
{% endfor %}
{{ messages|map(attribute='role')|list }} {{ messages|map(attribute='name', default='anon')|join(',') }}
{{ {'a': 1.0, 'b': [none, true, 'it\\'s', "q\\"", 1e16, 0.1]} }} {{ (1, 'x') }} {{ {}|length }} {{ [3, 1, 2]|sort }} {{ ['b', 'A']|sort|join }} {{ 3.7|int }} {{ '42'|int + 1 }} {{ 2.5|round }} {{ 'x'|default('y') }}
"""

MORE["lfm2"] = """
{{- bos_token -}}
{%- set system_prompt = "" -%}{%- set ns = namespace(system_prompt="", parts=[]) -%}
{%- if messages and messages[0]["role"] == "system" -%}{%- set ns.system_prompt = messages[0]["content"] -%}{%- set messages = messages[1:] -%}{%- endif -%}
{%- if tools -%}{%- set ns.system_prompt = ns.system_prompt + ("\\n" if ns.system_prompt else "") + "List of tools: [" -%}
{%- for tool in tools -%}{%- if tool is not string -%}{%- set tool = tool | tojson -%}{%- endif -%}{%- set ns.system_prompt = ns.system_prompt + tool -%}{%- if not loop.last -%}{%- set ns.system_prompt = ns.system_prompt + ", " -%}{%- endif -%}{%- endfor -%}
{%- set ns.system_prompt = ns.system_prompt + "]" -%}{%- endif -%}
{%- if ns.system_prompt -%}{{- "<|im_start|>system\\n" + ns.system_prompt + "<|im_end|>\\n" -}}{%- endif -%}
{%- for message in messages -%}
{%- set ns.parts = ns.parts + [message.role] -%}
{{- "<|im_start|>" + message["role"] + "\\n" -}}{%- set content = message["content"] -%}{%- if content is not string -%}{%- set content = content | tojson -%}{%- endif -%}
{%- if message["role"] == "tool" -%}{%- set content = "<|r|>" + content + "<|/r|>" -%}{%- endif -%}{{- content + "<|im_end|>\\n" -}}
{%- endfor -%}{{ ns.parts }}
{%- if add_generation_prompt -%}{{- "<|im_start|>assistant\\n" -}}{%- endif -%}
"""

MORE["seed-oss"] = """
{%- set budget_map = {0: 0, 512: 128, 1024: 256} -%}
{%- set ns = namespace(interval=none) -%}
{%- if thinking_budget is defined -%}{%- for k, v in budget_map | dictsort -%}{%- if ns.interval is none and thinking_budget <= k -%}{%- set ns.interval = v -%}{%- endif -%}{%- endfor -%}{%- endif -%}
{%- macro py_type(t) -%}{%- if t == "string" -%}str{%- elif t in ("number", "integer") -%}int{%- elif t == "boolean" -%}bool{%- elif t == "array" -%}list{%- else -%}Any{%- endif -%}{%- endmacro -%}
{%- for item in tools or [] -%}{%- if item.type == "function" %}
Function:
def {{ item.function.name }}(
{%- for name, spec in item.function.parameters.properties.items() %}
    {{- name }}: {{ py_type(spec.type) }}{% if not loop.last %},{% endif %}
{%- endfor %}):
    \"\"\"
    {{ item.function.description | trim }}
    {%- for name, spec in item.function.parameters.properties.items() %}
    - {{ name }} ({{ py_type(spec.type) }}){% if name in (item.function.parameters.required or []) %} [required]{% endif %}: {{ (spec.description or "") | trim }}
    {%- endfor %}
    \"\"\"
{%- endif -%}{%- endfor %}
budget {{ ns.interval }} {{ "%.2f" | format(thinking_budget | default(0) / 3) }}
{% for message in messages %}{{ bos_token + message.role ~ "\\n" ~ (message.content | string | trim) ~ eos_token }}{% endfor %}
"""

MORE["headings"] = """
{%- set rules = messages | selectattr('role', 'equalto', 'system') | map(attribute='content') | join('\\n\\n') -%}
{%- set turns = messages | rejectattr('role', 'equalto', 'system') | list -%}
{%- if rules %}## Rules

{{ rules }}

{% endif %}
{%- for turn in turns %}
{%- if turn.role == 'user' %}
## Question {{ loop.index }}

{{ turn.content if turn.content is string else turn.content | tojson }}

{%- elif turn.role in ('assistant', 'tool') %}
## {{ turn.role | capitalize }}

{{ (turn.content or '') | string | trim | replace('##', '#') }}

{%- else %}{{ raise_exception('no place for the role ' ~ turn.role) }}
{%- endif %}
{% endfor %}
{%- if add_generation_prompt %}## Answer
{% endif %}"""

MORE["numbered turns"] = """
{%- set ns = namespace(users=0, pending=false) -%}
{%- for m in messages -%}
  {%- if m.role == 'user' -%}
    {%- if ns.pending %}{{ raise_exception('two questions in a row at message %d' % loop.index) }}{% endif -%}
    {%- set ns.users = ns.users + 1 -%}
    {%- set ns.pending = true -%}
    {{- '<q' ~ ns.users ~ '>' ~ (m.content | string) ~ '</q' ~ ns.users ~ '>' -}}
  {%- elif m.role == 'assistant' -%}
    {%- set ns.pending = false -%}
    {%- set text = (m.content or '') | string -%}
    {{- '<a%d>' % ns.users ~ (text.split('</think>') | last).lstrip('\\n') ~ '</a%d>' % ns.users ~ eos_token -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt and ns.pending %}{{ '<a%d>' % ns.users }}{% endif -%}"""

MORE["tool list"] = """
{%- macro field(name, kind) -%}
{{ '  - ' ~ name ~ ': ' ~ (kind.type if kind.type is string else 'any') }}{% if kind.description is defined %} ({{ kind.description | trim | lower }}){% endif %}
{%- endmacro -%}
{%- if tools -%}
Tools:
{% for tool in tools -%}
{%- set f = tool.function -%}
{{ loop.index0 }}. {{ f.name }} - {{ f.description | default('no description', true) | replace('\\n', ' ') }}
{%- for name, kind in (f.parameters.properties or {}) | dictsort %}
{{ field(name, kind) | indent(2) }}
{%- endfor %}
{% endfor %}
{%- endif -%}
{%- for m in messages -%}
{%- if loop.previtem is defined and loop.previtem.role == m.role %}{% continue %}{% endif -%}
{{ '[' ~ m.role | upper ~ '] ' }}
{%- if m.tool_calls is defined and m.tool_calls -%}
{%- for c in m.tool_calls %}{{ c.function.name }}({{ c.function.arguments | tojson if c.function.arguments is not string else c.function.arguments }}){{ ', ' if not loop.last }}{% endfor %}
{%- else -%}
{{ m.content if m.content is string else m.content | tojson }}
{%- endif %}
{% endfor -%}
{%- if add_generation_prompt %}[ASSISTANT] {% endif -%}"""

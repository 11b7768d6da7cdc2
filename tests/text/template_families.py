"""Thirty small chat templates of our own, each in the manner of a public family, with the features that it uses."""

TEMPLATES = {}

TEMPLATES["chatml"] = """
{%- if messages and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\nYou are a careful helper.<|im_end|>\\n' }}{% endif %}
{% for message in messages %}
    {{- '<|im_start|>' + message['role'] + '\\n' }}{{ message['content'] if message['content'] is string else message['content']|tojson }}{{ '<|im_end|>' + '\\n' -}}
{% endfor %}
{% if add_generation_prompt %}
{{ '<|im_start|>assistant\\n' }}
{%- endif %}
"""

TEMPLATES["llama3"] = """
{{- bos_token }}
{%- if custom_tools is defined %}{% set tools = custom_tools %}{% endif %}
{%- if not tools_in_user_message is defined %}{%- set tools_in_user_message = true %}{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}{%- set date_string = strftime_now("%d %b %Y") %}{%- else %}{%- set date_string = "26 Jul 2024" %}{%- endif %}
{%- endif %}
{%- if messages and messages[0]['role'] == 'system' and messages[0]['content'] is string %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|head|>system<|/head|>\\n\\n" }}
{%- if tools is not none %}{{- "Environment: ipython\\n" }}{%- endif %}
{{- "Today: " + date_string + "\\n\\n" }}
{%- if tools is not none and not tools_in_user_message %}
    {%- for t in tools %}{{- t | tojson(indent=4) }}{{- "\\n\\n" }}{%- endfor %}
{%- endif %}
{{- system_message }}{{- "<|end|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|head|>' + message['role'] + '<|/head|>\\n\\n' + (message['content']|string)|trim + '<|end|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}{{- raise_exception("one tool call at a time") }}{%- endif %}
        {%- set call = message.tool_calls[0].function %}
        {{- '<|head|>assistant<|/head|>\\n\\n{"name": "' + call.name + '", "parameters": ' }}{{- call.arguments | tojson }}{{- "}<|end|>" }}
    {%- else %}
        {{- "<|head|>ipython<|/head|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable and message.content is not string %}{{- message.content | tojson }}{%- else %}{{- message.content }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|head|>assistant<|/head|>\\n\\n' }}{%- endif %}
"""

TEMPLATES["qwen2.5"] = """
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0]['role'] == 'system' %}{{- messages[0]['content'] }}{%- else %}{{- 'Be helpful.' }}{%- endif %}
    {{- "\\n\\n# Tools\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools>\\nAnswer {\\"name\\": <name>, \\"arguments\\": <object>}<|im_end|>\\n" }}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' ~ message.content ~ '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}{{- '\\n' + message.content }}{%- endif %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}{%- set tool_call = tool_call.function %}{%- endif %}
            {{- '\\n<tool_call>\\n{"name": "' }}{{- tool_call.name }}{{- '", "arguments": ' }}{{- tool_call.arguments | tojson }}{{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\\n<tool_response>\\n' }}{{- message.content }}{{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}{{- '<|im_end|>\\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""

TEMPLATES["qwen3"] = """
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}{%- set content = message.content %}{%- else %}{%- set content = '' %}{%- endif %}
    {%- if message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index and (loop.last or (not loop.last and reasoning_content)) %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}{{- '\\n' }}{%- endif %}
                {%- if tool_call.function %}{%- set tool_call = tool_call.function %}{%- endif %}
                {{- '<tool_call>\\n{"name": "' ~ tool_call.name ~ '", "arguments": ' }}
                {%- if tool_call.arguments is string %}{{- tool_call.arguments }}{%- else %}{{- tool_call.arguments | tojson }}{%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}
"""

TEMPLATES["deepseek-r1"] = """
{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}
{% set ns = namespace(is_first=false, is_tool=false, is_output_first=true, system_prompt='') %}
{%- for message in messages %}{%- if message['role'] == 'system' %}{% set ns.system_prompt = message['content'] %}{%- endif %}{%- endfor %}
{{bos_token}}{{ns.system_prompt}}
{%- for message in messages %}
{%- if message['role'] == 'user' %}{%- set ns.is_tool = false -%}{{'<|User|>' ~ message['content']}}{%- endif %}
{%- if message['role'] == 'assistant' and message['content'] is none %}{%- set ns.is_tool = false -%}
{%- for tool in message['tool_calls']%}{%- if not ns.is_first %}{{'<|Assistant|><|calls|>' + tool['type'] + '<|sep|>' + tool['function']['name'] + '\\n```json\\n' ~ tool['function']['arguments'] ~ '\\n```'}}{%- set ns.is_first = true -%}
{%- else %}{{'\\n' + tool['type'] + '<|sep|>' + tool['function']['name']}}{%- endif %}{%- endfor %}{{'<|end|>'}}{%- endif %}
{%- if message['role'] == 'assistant' and message['content'] is not none %}
{%- if ns.is_tool %}{{'<|outputs_end|>' + message['content'] + '<|end|>'}}{%- set ns.is_tool = false -%}
{%- else %}{% set content = message['content'] %}{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}{{'<|Assistant|>' ~ content ~ '<|end|>'}}{%- endif %}{%- endif %}
{%- if message['role'] == 'tool' %}{%- set ns.is_tool = true -%}
{%- if ns.is_output_first %}{{'<|outputs|>' ~ message['content']}}{%- set ns.is_output_first = false %}{%- else %}{{'\\n<|output|>' ~ message['content']}}{%- endif %}{%- endif %}
{%- endfor -%}
{% if ns.is_tool %}{{'<|outputs_end|>'}}{% endif %}{% if add_generation_prompt and not ns.is_tool %}{{'<|Assistant|><think>\\n'}}{% endif %}
"""

TEMPLATES["deepseek-v3"] = """
{%- set ns = namespace(last_user=-1, system='') -%}
{%- for m in messages if m.role == 'system' -%}{%- set ns.system = ns.system ~ ('\\n\\n' if ns.system else '') ~ m.content -%}{%- endfor -%}
{{- bos_token ~ ns.system -}}
{%- for m in messages %}{%- if m['role'] in ['user', 'developer'] %}{% set ns.last_user = loop.index0 %}{%- endif %}{%- endfor %}
{%- for m in messages -%}
{%- if m.role == 'user' -%}<|User|>{{ m.content }}
{%- elif m.role == 'assistant' -%}
<|Assistant|>{{ '<think>' if thinking|default(false) and loop.index0 > ns.last_user else '</think>' }}{{ m.content or '' }}
{%- for call in m.tool_calls or [] -%}{{ '<|call|>' if loop.first }}{{ call.function.name }}<|sep|>{{ call.function.arguments|tojson if call.function.arguments is mapping else call.function.arguments }}{{ '' if loop.last else '<|next|>' }}{%- endfor -%}<|end|>
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|Assistant|>{{ '<think>' if thinking else '</think>' }}{%- endif -%}
"""

TEMPLATES["mistral-v3"] = """
{%- if messages and messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or message.role == "tool_results" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}{{- raise_exception("roles must alternate user/assistant/user/assistant/...") }}{%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}{{- '"' + key + '": "' + val + '"' }}{%- else %}{{- '"' + key + '": ' + val|tojson }}{%- endif %}
                    {%- if not loop.last %}{{- ", " }}{%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" }}{%- endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {%- if loop.last and system_message is defined %}{{- "[INST] " + system_message + "\\n\\n" ~ message["content"] ~ "[/INST]" }}{%- else %}{{- "[INST] " ~ message["content"] ~ "[/INST]" }}{%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {%- if not tool_call.id is defined or tool_call.id|length != 9 %}{{- raise_exception("a call's id has nine letters") }}{%- endif %}
            {{- ', "id": "' + tool_call.id + '"}' }}{{- ", " if not loop.last else "]" + eos_token }}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token }}
    {%- elif message["role"] == "tool_results" or message["role"] == "tool" %}
        {%- if message.content is defined and message.content.content is defined %}{%- set content = message.content.content %}{%- else %}{%- set content = message.content %}{%- endif %}
        {{- '[TOOL_RESULTS] {"content": ' + content|string + ", " }}{{- '"call_id": "' ~ message.tool_call_id ~ '"}[/TOOL_RESULTS]' }}
    {%- else %}{{- raise_exception("only user, assistant and tool roles, not " + message.role) }}
    {%- endif %}
{%- endfor %}
"""

TEMPLATES["mistral-v7"] = """
{%- set today = strftime_now("%Y-%m-%d") %}
{%- set yesterday = strftime_now("%A, %e %B %y at %I:%M%p") %}
{{- bos_token }}[SYSTEM_PROMPT]{{ 'Now is ' + today + ' (' ~ yesterday ~ ')' if (messages|first).role|default('') != 'system' else (messages|first).content }}[/SYSTEM_PROMPT]
{%- for message in messages if message.role != 'system' %}
    {%- if message['role'] == 'user' %}
        {%- if message['content'] is string %}{{- '[INST]' + message['content'] + '[/INST]' }}
        {%- else %}
            {{- '[INST]' }}
            {%- for block in message['content'] %}
                {%- if block['type'] == 'text' %}{{- block['text'] }}
                {%- elif block['type'] in ['image', 'image_url'] %}{{- '[IMG]' }}
                {%- else %}{{- raise_exception('only text and image blocks are supported in message content!') }}{%- endif %}
            {%- endfor %}
            {{- '[/INST]' }}
        {%- endif %}
    {%- elif message['role'] == 'assistant' %}
        {{- (message['content'] or '') + eos_token }}
    {%- endif %}
{%- endfor %}
"""

TEMPLATES["gemma"] = """
{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}{%- set first_user_prefix = messages[0]['content'] + '

' -%}{%- else -%}{%- set first_user_prefix = messages[0]['content'][0]['text'] + '

' -%}{%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}{{ raise_exception("Conversation roles must alternate") }}{%- endif -%}
    {%- if (message['role'] == 'assistant') -%}{%- set role = "model" -%}{%- else -%}{%- set role = message['role'] -%}{%- endif -%}
    {{ '<turn>' + role + '
' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}{{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}{{ '<image>' }}{%- elif item['type'] == 'text' -%}{{ item['text'] | trim }}{%- endif -%}
        {%- endfor -%}
    {%- else -%}{{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '</turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{'<turn>model
'}}{%- endif -%}
"""

TEMPLATES["phi3"] = "{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}{{'<|system|>\\n' + message['content'] + '<|end|>\\n'}}{% elif message['role'] == 'user' %}{{'<|user|>\\n' ~ message['content'] + '<|end|>\\n'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>\\n' ~ message['content'] ~ '<|end|>\\n'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}"

TEMPLATES["phi4"] = """
{%- for message in messages %}{{ '<|' ~ message.role ~ '|>' ~ message.content }}{% if message.role == 'system' and 'tools' in message and message['tools'] is not none %}{{ '<|tool|>' ~ message['tools'] ~ '<|/tool|>' }}{% endif %}{{ '<|end|>' }}{% endfor -%}
{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}
"""

TEMPLATES["command-r tools"] = """
{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = '## Task\\nUse the tools.' %}{% endif %}
{{ '<|sys|>' }}{{ system_message }}
{{ '## Available Tools' }}
{% for tool in tools or [] %}
{% set f = tool.function %}
```python
def {{ f.name }}({% for param_name, fields in (f.parameters.properties or {}).items() %}{% if loop.index0 > 0 %}, {% endif %}{{ param_name }}: {% if fields.type == 'string' %}str{% elif fields.type == 'array' %}List{% else %}{{ fields.type|replace('number', 'float')|replace('integer', 'int') }}{% endif %}{% if param_name not in (f.parameters.required or []) %} = None{% endif %}{% endfor %}):
    \"\"\"{{ f.description|indent(4) }}
    {% if f.parameters.properties|length != 0 %}

    Args:
        {% for param_name, fields in f.parameters.properties|dictsort %}{{ param_name|upper }} ({{ fields.type|title }}): {{ fields.description|default('none given')|capitalize }}
        {% endfor %}
    {% endif %}\"\"\"
    pass
```
{% endfor %}
{% for message in loop_messages %}
{{ {'user': '<|USER|>', 'assistant': '<|BOT|>', 'tool': '<|TOOL|>'}[message.role]|default('<|' ~ message.role ~ '|>') }}{{ message.content }}
{%- endfor %}
{% if add_generation_prompt %}<|BOT|>{% endif %}
"""

TEMPLATES["command-r rag"] = """
{{ bos_token }}{% for document in documents or [] %}{% if loop.first %}{{ '<results>' }}{% endif %}

Document: {{ loop.index0 }}
{% for key, value in document.items() %}{{ key }}: {{ value }}{{ '\\n' if not loop.last }}{% endfor %}
{% if loop.last %}{{ '</results>' }}{% endif %}{% endfor %}
{{ messages|map(attribute='role')|unique|join('/') }} {{ messages|rejectattr('role', 'in', ['tool', 'system'])|map(attribute='content')|list|length }}
{% for batch in messages|batch(2) %}[{% for m in batch %}{{ m.content }}{{ '|' if not loop.last }}{% endfor %}]{% endfor %}
"""

TEMPLATES["gpt-oss"] = """
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

TEMPLATES["granite"] = """
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

TEMPLATES["glm4"] = """[gMASK]<sop>
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

TEMPLATES["kimi-k2"] = """
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

TEMPLATES["minimax"] = """
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

TEMPLATES["hermes"] = """
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

TEMPLATES["nemotron"] = """
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

TEMPLATES["smollm3"] = """
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

TEMPLATES["llama2"] = "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in loop_messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}{% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' ~ message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"

TEMPLATES["zephyr"] = """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\\n' ~ message['content'] ~ eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>\\n'  ~ message['content'] ~ eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"""

TEMPLATES["olmo"] = """{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}{{ '<|system|>\\n' + message['content'] + '\\n' }}{% elif message['role'] == 'assistant' %}{% if not loop.last %}{{ '<|assistant|>\\n' ~ message['content'] ~ eos_token + '\\n' }}{% else %}{{ '<|assistant|>\\n' ~ message['content'] ~ eos_token }}{% endif %}{% else %}{{ '<|' ~ message.role ~ '|>\\n' ~ message['content'] ~ '\\n' }}{% endif %}{% if loop.last and add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}{% endfor %}
"""

TEMPLATES["internlm"] = """
{%- set sep = joiner('\\n---\\n') -%}{%- set row = cycler('odd', 'even') -%}
{% for m in messages recursive %}{{ sep() }}{{ loop.depth }}.{{ loop.index }} {{ row.next() }} {{ m.role }}{{ ' (again)' if not loop.changed(m.role) }}: {{ m.content if m.content is string else m.content|length if m.content else '-' }}{% if m.children %}{{ loop(m.children) }}{% endif %}{% else %}nothing{% endfor %}
"""

TEMPLATES["falcon"] = """
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

TEMPLATES["ernie"] = """
{%- with sys = messages|selectattr('role', 'eq', 'system')|map(attribute='content')|first|default('none', true), rest = messages|rejectattr('role', 'eq', 'system')|list -%}
<s>{{ sys }}{% filter upper %} [{{ rest|length }}] {% endfilter %}
{% for role, group in rest|groupby('role') %}{{ role }}={{ group|length }};{% endfor %}
{% for m in rest %}{{ loop.revindex }}/{{ loop.length }}{{ loop.cycle(' a', ' b', ' c') }}: {{ m.content|string|truncate(20, true) }}
{% endfor %}
{%- endwith %}
{% raw %}{{ not a tag }}{% endraw %} {#- nor this -#} {{ sys is defined }}
"""

TEMPLATES["exaone"] = """
{%- for message in messages -%}
  {%+ if loop.first %}[first] {% endif +%}
    {{- message.role.title() ~ ' ' ~ message.role.upper() ~ ' ' ~ message.role.capitalize() }}
  {%- for part in (message.content.split('\\n') if message.content is string else []) %} |{{ part.strip() }}|{{ part.find('e') }}|{{ part.count('e') }}|{{ part[:3] }}|{{ part[-3:] }}|{{ part[::-1]|e }}{%- endfor %}
{% endfor %}
{{ messages|map(attribute='role')|list }} {{ messages|map(attribute='name', default='anon')|join(',') }}
{{ {'a': 1.0, 'b': [none, true, 'it\\'s', "q\\"", 1e16, 0.1]} }} {{ (1, 'x') }} {{ {}|length }} {{ [3, 1, 2]|sort }} {{ ['b', 'A']|sort|join }} {{ 3.7|int }} {{ '42'|int + 1 }} {{ 2.5|round }} {{ 'x'|default('y') }}
"""

TEMPLATES["lfm2"] = """
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

TEMPLATES["seed-oss"] = """
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

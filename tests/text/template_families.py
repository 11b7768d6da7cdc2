"""Thirty small chat templates of our own, each in the manner of a public family, with the features that it uses."""
from template_families_more import MORE

TEMPLATES = dict(MORE)

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
{%- if own_tools is defined %}{% set tools = own_tools %}{% endif %}
{%- if not tools_with_user is defined %}{%- set tools_with_user = true %}{%- endif %}
{%- if not today is defined %}
    {%- if strftime_now is defined %}{%- set today = strftime_now("%d %b %Y") %}{%- else %}{%- set today = "26 Jul 2024" %}{%- endif %}
{%- endif %}
{%- if messages and messages[0]['role'] == 'system' and messages[0]['content'] is string %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|head|>system<|/head|>\\n\\n" }}
{%- if tools is not none %}{{- "Environment: ipython\\n" }}{%- endif %}
{{- "Today: " + today + "\\n\\n" }}
{%- if tools is not none and not tools_with_user %}
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

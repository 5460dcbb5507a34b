# problem: sdpa
# class: channel
# expect: error
# evidence: a control character or markup acting in a report

x = 'a‮b'  # [bold]<b>⁦
this is not python ​ [red] <script>

/**
 * A program for Perl that hands stdin to the server, with the ends and the output that `curl` would have: the body, a line
 * feed and the status; 7 where nobody listens, 28 when it took too long, 56 where the answer is not whole. Perl starts
 * much faster than `curl`, which loads what it needs for every other protocol. INVARIANT: it names no module, so
 * that with `-f` and an empty environment nothing but Perl itself decides what runs. The numbers are those of Linux.
 */
export function perlAsking(seconds: number): string {
  return `my ($path, $client, $run, $scope, $programs) = @ARGV;
$SIG{ALRM} = sub { exit 28 };
$SIG{PIPE} = "IGNORE";
alarm ${seconds};
binmode STDIN;
binmode STDOUT;
undef $/;
my $body = <STDIN>;
$body = "" unless defined $body;
my $server;
socket($server, 1, 1, 0) && connect($server, pack("Sa*x", 1, $path)) or exit 7;
binmode $server;
my $asked = "POST /api/v1/hooks/$client HTTP/1.1\\r\\nhost: localhost\\r\\nconnection: close\\r\\n" .
  "content-type: application/json\\r\\nx-phasegate-run: $run\\r\\nx-phasegate-scope: $scope\\r\\n" .
  "x-phasegate-path: $programs\\r\\n" .
  "content-length: " . length($body) . "\\r\\n\\r\\n" . $body;
for (my $at = 0; $at < length $asked; ) {
  my $sent = syswrite $server, $asked, 65536, $at;
  last unless $sent;
  $at += $sent;
}
my ($answer, $head, $status, $length) = ("", "");
while (1) {
  if (!defined $status && $answer =~ /\\AHTTP\\/1\\.1 (\\d{3}) .*?\\r\\n\\r\\n/s) {
    ($status, $head) = ($1, substr($answer, 0, $+[0]));
    $length = $1 if $head =~ /^content-length: *(\\d+)\\r$/mi;
  }
  last if defined $length && length($answer) >= length($head) + $length;
  last unless sysread $server, $answer, 65536, length $answer;
}
my $said = substr($answer, length $head);
if ($head =~ /^transfer-encoding: *chunked\\r$/mi) {
  my ($all, $end) = ("", 0);
  while (!$end && $said =~ /\\A([0-9a-f]+)\\r\\n/i) {
    my ($size, $at) = (hex $1, $+[0]);
    $end = $size == 0;
    $all .= substr($said, $at, $size);
    $said = length $said < $at + $size ? "" : substr($said, $at + $size + 2);
  }
  ($said, $length) = ($all, $end ? length $all : -1);
}
my $isWhole = defined $status && length $said == ($length || 0);
print "its answer is not whole" and exit 56 unless $isWhole || defined $status && $status != 200;
print $said, "\\n", $status or exit 23;
`;
}

// Removes our chains from the firewall: the rules that jump to them, then the chains. All other rules and counters stay.
// A table is replaced as a whole, so that no packet sees half of it.
import { runCommand, tryCommand } from '../run-command.ts'

function chainOf(line: string): string | undefined {
  return /^(?:\[\d+:\d+\] )?(?::|-A )(\S+)/.exec(line)?.[1]
}

function targetOf(line: string): string | undefined {
  return /\s(?:-j|-g|--jump|--goto) (\S+)/.exec(line)?.[1]
}

/** The text of iptables-save without the chains that start with one of the prefixes and without the rules that name them. */
export function withoutChains(saved: string, prefixes: readonly string[]): string {
  const ours = (chain: string | undefined): boolean => chain !== undefined && prefixes.some(prefix => chain.startsWith(prefix))
  return saved
    .split('\n')
    .filter(line => !ours(chainOf(line)) && !ours(targetOf(line)))
    .join('\n')
}

/** Cleans IPv4 and IPv6; resolves to whether there was a chain of ours. */
export async function removeChains(prefixes: readonly string[]): Promise<boolean> {
  let removed = false
  for (const family of ['iptables', 'ip6tables']) {
    const saved = await tryCommand(`${family}-save`, ['-c']).catch(() => undefined) // not installed, so it has no rules of ours
    if (saved === undefined || saved.code !== 0) continue
    const cleaned = withoutChains(saved.output, prefixes)
    if (cleaned === saved.output) continue
    await runCommand(`${family}-restore`, ['-c'], { input: cleaned })
    removed = true
  }
  return removed
}

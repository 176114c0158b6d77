// Examples of the commands for signing in and out.
import type { Example } from './example.ts'

export const accountExamples: Readonly<Record<string, readonly Example[]>> = {
  login: [
    { line: 'sekisho login --issuer https://sekisho.example.com', does: 'sign in for the first time' },
    { line: 'sekisho login --device', does: 'sign in on a computer without a browser' },
  ],
  token: [{ line: 'sekisho token', does: 'print a credential; kubectl runs this command itself' }],
  logout: [
    { line: 'sekisho logout', does: 'sign out' },
    { line: 'sekisho logout --everywhere', does: 'sign out in every browser and on every computer' },
  ],
  whoami: [{ line: 'sekisho whoami -o wide', does: 'show your tenants, roles and groups' }],
  kubeconfig: [
    { line: 'sekisho kubeconfig --namespace acme', does: 'write the context sekisho with the namespace acme' },
    {
      line: 'sekisho kubeconfig --kubeconfig ./acme.yaml --context acme --namespace acme',
      does: 'write a file of its own',
    },
  ],
  completion: [
    { line: 'sekisho completion bash', does: 'print it for bash: eval "$(sekisho completion bash)" in ~/.bashrc' },
    { line: 'sekisho completion zsh', does: 'print it for zsh: eval "$(sekisho completion zsh)" in ~/.zshrc' },
    {
      line: 'sekisho completion fish',
      does: 'print it for fish: sekisho completion fish | source in ~/.config/fish/config.fish',
    },
  ],
  version: [{ line: 'sekisho version', does: 'print the version, for a report' }],
}

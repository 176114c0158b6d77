// The API server's admission file: which client certificate it shows to which admission webhook.
// Kubernetes "Dynamic Admission Control", section "Authenticate API servers".
import { stringify } from 'yaml'
import type { KeyPairFiles } from '../pki/openssl.ts'

/** The file's text, for both plugins that call webhooks. The API server reads it at its start only. */
export function admissionConfiguration(kubeConfigFile: string): string {
  const plugin = (name: string): object => ({
    name,
    configuration: { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration', kubeConfigFile },
  })
  return stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: ['ValidatingAdmissionWebhook', 'MutatingAdmissionWebhook'].map(plugin),
  })
}

/**
 * A kubeconfig whose users are hosts of webhooks: `<service>.<namespace>.svc`, or host and port of a URL. Other webhooks see no
 * certificate. The API server reads the two files again when they change.
 */
export function webhookKubeconfig(hosts: readonly string[], { certificate, key }: KeyPairFiles): string {
  const user = { 'client-certificate': certificate, 'client-key': key }
  return stringify({ apiVersion: 'v1', kind: 'Config', users: hosts.map(name => ({ name, user })) })
}

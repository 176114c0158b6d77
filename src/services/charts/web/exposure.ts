// How processes are reached: a Service for each process with a port, and the Ingress of the process `web` with its certificate.
import type { Chart } from 'cdk8s'
import { k8s } from 'cdk8s-plus-33'
import type { ChartInput, ChartProcess } from '../chart-input.ts'
import { portName, selector } from './deployment.ts'
import { serviceName } from './names.ts'

export function addService(chart: Chart, input: ChartInput, process: ChartProcess): void {
  new k8s.KubeService(chart, `service-${process.name}`, {
    metadata: { name: serviceName(input.name, process.name) },
    spec: {
      selector: selector(input, process),
      ports: [{ name: portName, port: 80, targetPort: k8s.IntOrString.fromString(portName) }],
    },
  })
}

/** cert-manager reads the annotation of the Ingress and fills the Secret. https://cert-manager.io/docs/usage/ingress/ */
function issuerAnnotation({ certificate }: ChartInput): { annotations?: Record<string, string> } {
  if (certificate?.issuer === undefined) return {}
  const { name, kind } = certificate.issuer
  return { annotations: { [kind === 'Issuer' ? 'cert-manager.io/issuer' : 'cert-manager.io/cluster-issuer']: name } }
}

export function addIngress(chart: Chart, input: ChartInput): void {
  const backend = { service: { name: input.name, port: { name: portName } } }
  const { certificate } = input
  const hosts = [...input.hosts]
  new k8s.KubeIngress(chart, 'ingress', {
    metadata: { name: input.name, ...issuerAnnotation(input) },
    spec: {
      ingressClassName: input.ingressClassName,
      rules: hosts.map(host => ({ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } })),
      ...(input.tls ? { tls: [{ hosts, ...(certificate ? { secretName: certificate.secretName } : {}) }] } : {}),
    },
  })
}

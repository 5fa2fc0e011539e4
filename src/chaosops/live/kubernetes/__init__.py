"""A company that runs in a namespace of a Kubernetes cluster, as a platform.

Services are Deployments, settings are keys of ConfigMaps, agents are ServiceAccounts. The record is
the audit log of the API server, and quarantine is the loss of a RoleBinding.
"""

"""The whole stack on one machine: AWS emulated in process, made from the template, behind an API Gateway of our own."""

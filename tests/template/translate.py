"""Print the template as CloudFormation, once for each set of parameters given as JSON; in the SAM CLI's environment."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import boto3
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse


def translate(text: str, parameters: dict[str, str]) -> Any:
    template = yaml_parse(text)
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = "s3://built/artifact.zip"
    values = {name: given["Default"] for name, given in template["Parameters"].items()} | parameters
    session = boto3.Session(region_name=os.environ["AWS_DEFAULT_REGION"])
    return Translator({}, Parser(), boto_session=session).translate(sam_template=template, parameter_values=values)


source = Path("template.yaml").read_text("utf-8")
json.dump([translate(source, parameters) for parameters in json.loads(sys.argv[1])], sys.stdout, default=str)
